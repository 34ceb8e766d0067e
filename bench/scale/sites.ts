import { partSpan } from '../../src/catalog/postgres/dialect.ts';

/** Where a service runs: how many of what. */
export interface Site {
  readonly name: string;
  /** Everything on one machine, whose cores and disk all of it shares. */
  readonly isOneMachine: boolean;
  /** Cores of that machine, or of the one that Postgres has for itself. */
  readonly cores: number;
  readonly memoryBytes: number;
  readonly diskBytes: number;
  /** Processes that accept, over all nodes. */
  readonly acceptProcesses: number;
  readonly parseProcesses: number;
  /** Of each of them. */
  readonly parseThreads: number;
  /** Machines of the object store, and nodes of ClickHouse, with so many cores each. */
  readonly storeMachines: number;
  readonly engineNodes: number;
  readonly storeCores: number;
  readonly storeDiskBytes: number;
  /** Machines that accepting and parsing processes are spread over. */
  readonly nodes: number;
  /** Sequences in one part of the table of deliveries; another than that of weir is not built. */
  readonly partSpan: number;
}

const GiB = 2 ** 30;
const TiB = 2 ** 40;

/** Assumed, not measured: what machines are, and what is said of other programs. */
export const assumed = {
  networkBytesPerSecond: 1.25e9,
  /** Of a machine of the object store: an object is a directory and a file on each drive. */
  objectsPerStoreMachine: 5e8,
  /** Of one table of one ClickHouse node: each makes a part that has to be merged. */
  insertsPerSecond: 10,
  /** Of memory, what Postgres can keep of its indexes that are written at random places. */
  memoryShare: 0.5,
  /** Such places for each delivery: the index of bodies and that of keys. */
  randomPages: 2,
  /** Milliseconds to read a page that is not in memory. */
  readMs: 0.1,
  /** No resource is planned to be busier than that at the peak. */
  busyMax: 0.7,
  /** Bytes of a sample's row in ClickHouse, in both tables, merged. */
  rowBytes: 40,
} as const;

const small = { memoryBytes: 24 * GiB, diskBytes: TiB, storeDiskBytes: TiB };
const large = { memoryBytes: 256 * GiB, diskBytes: 16 * TiB, storeDiskBytes: 64 * TiB };

/** A machine with everything on it. */
export function oneMachine(cores: number, processes: number): Site {
  return {
    name: `one machine with ${cores} cores`,
    ...{ isOneMachine: true, cores, ...(cores > 4 ? { ...small, diskBytes: 8 * TiB } : small) },
    ...{ acceptProcesses: processes, parseProcesses: processes },
    parseThreads: Math.max(1, cores - 1),
    ...{ storeMachines: 1, engineNodes: 1, storeCores: cores, nodes: 1, partSpan },
  };
}

/** Nodes of 8 cores, Postgres on 32, object store and ClickHouse on machines of 16. */
export function spread(counts: {
  readonly acceptProcesses: number;
  readonly parseProcesses: number;
  readonly storeMachines: number;
  readonly engineNodes: number;
  readonly partSpan: number;
}): Site {
  const nodes = Math.max(2, Math.ceil((counts.acceptProcesses + 2 * counts.parseProcesses) / 8));
  return {
    name: `${nodes} nodes, stores apart`,
    ...{ isOneMachine: false, cores: 32, ...large, parseThreads: 2, storeCores: 16, nodes },
    ...counts,
  };
}
