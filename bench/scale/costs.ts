import type { Compared, Round } from './accept.ts';
import { fitLine, type Line } from './fit.ts';
import type { ScaleMeasured } from './measure.ts';

/** What the model and the simulation know of the real service: all of it measured. */
export interface Costs {
  /** Microseconds of an accepting process, for a segment and for each of its pushes. */
  readonly acceptLoopUs: Line;
  /** The same with its other threads. */
  readonly acceptAllUs: Line;
  readonly acceptDocument: { readonly loopUs: number; readonly allUs: number };
  readonly redisUs: number;
  readonly pushBytes: number;
  readonly documentBytes: number;
  /** An object into the store, by its bytes. */
  readonly putMs: Line;
  readonly putCpuUs: Line;
  /** A group has the ledger for itself, by its deliveries. */
  readonly groupMs: Line;
  readonly groupCpuUs: Line;
  /** What each further part of the table of deliveries adds to a group. */
  readonly groupMsPerPart: number;
  /** And to a claim, whose statements are planned each time. */
  readonly claimMsPerPart: number;
  /** Parsing, for each delivery. */
  readonly parsePush: ParseCost;
  readonly parseDocument: ParseCost;
  /** An insert, by its rows. */
  readonly insertMs: Line;
  readonly insertCpuUs: Line;
  /** Postgres, for each delivery. */
  readonly partBytes: number;
  readonly globalTableBytes: number;
  readonly globalIndexBytes: number;
  /** Deliveries of one source that are settled again in a second. */
  readonly settledPerSecond: number;
}

export interface ParseCost {
  readonly loopUs: number;
  readonly threadUs: number;
  /** Of Postgres: claims and completions. */
  readonly catalogUs: number;
  readonly readUs: number;
  readonly samples: number;
}

export function costsOf(measured: ScaleMeasured): Costs {
  const { pushes64, pushes256, limited, documents, ledger, puts, inserts } = measured;
  const rounds = [pushes64, pushes256, ...limited.map(({ compared }) => compared)].flatMap(both);
  const { one: document } = documents;
  const [few, many] = [ledger.parts[0]!, ledger.parts.at(-1)!];
  const further = many.parts - few.parts;
  return {
    acceptLoopUs: lineOf(rounds, ({ cpuUs }) => cpuUs.weirMain),
    acceptAllUs: lineOf(rounds, ({ cpuUs }) => cpuUs.weirMain + cpuUs.weirThreads),
    acceptDocument: {
      loopUs: document.cpuUs.weirMain,
      allUs: document.cpuUs.weirMain + document.cpuUs.weirThreads,
    },
    redisUs: pushes256.one.cpuUs.redis,
    pushBytes: measured.pushBytes,
    documentBytes: measured.documentBytes,
    ...{ putMs: puts.ms, putCpuUs: puts.cpuUs },
    ...{ groupMs: ledger.groupMs, groupCpuUs: ledger.groupCpuUs },
    // By processor time: one backend works at it, and what others do to the clock is left out.
    groupMsPerPart: Math.max(0, many.groupCpuUs - few.groupCpuUs) / further / 1_000,
    claimMsPerPart: Math.max(0, many.claimCpuUs - few.claimCpuUs) / further / 1_000,
    parsePush: parseCost(measured.parsePushes),
    parseDocument: parseCost(measured.parseDocuments),
    ...{ insertMs: inserts.ms, insertCpuUs: inserts.cpuUs },
    partBytes: ledger.partBytes,
    globalTableBytes: ledger.globalTableBytes,
    globalIndexBytes: ledger.globalIndexBytes,
    settledPerSecond: measured.settle.deliveries / measured.settle.seconds,
  };
}

function both({ one, two }: Compared): Round[] {
  return [one, two];
}

/** The more pushes share a segment, the less of it each pays. */
function lineOf(rounds: readonly Round[], us: (round: Round) => number): Line {
  const points = rounds.map((round) => ({
    units: round.perObject,
    cost: us(round) * round.perObject,
  }));
  return fitLine(points);
}

function parseCost({ cpuUs, samples }: ScaleMeasured['parsePushes']): ParseCost {
  const { weirMain: loopUs, weirThreads: threadUs, postgres: catalogUs, minio: readUs } = cpuUs;
  return { loopUs, threadUs, catalogUs, readUs, samples };
}
