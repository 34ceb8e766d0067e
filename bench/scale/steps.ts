import { partSpan } from '../../src/catalog/postgres/dialect.ts';
import type { Costs } from './costs.ts';
import {
  capacityOf,
  coresAt,
  ledgerCapacity,
  missShare,
  moreCells,
  partsOf,
  peakOf,
  type Question,
  type Resource,
  ratesAt,
  sharingAt,
  usual,
  type Workload,
} from './model.ts';
import { assumed, oneMachine, type Site, spread } from './sites.ts';

/** A step of growth: so much comes in, on such a site. */
export interface Step extends Question {
  readonly name: string;
  /** So many services share the sources out; workload and site are those of one of them. */
  readonly cells: number;
  /** What is assumed of weir that is not built; null: it runs as it is. */
  readonly notBuilt: string | null;
}

/** As many deliveries in a part as fit a table of Postgres: parts then are no cost. */
const largePartSpan = 2 ** 31;

/** From one machine to a billion deliveries a day, and what has to be built on the way. */
export function stepsOf(costs: Costs): Step[] {
  const alone = (name: string, deliveriesPerDay: number, site: Site): Step => {
    const workload = { ...usual, deliveriesPerDay };
    return { name, costs, site, workload, cells: 1, notBuilt: null };
  };
  const apart = (name: string, perDay: number, plan: Plan): Step => {
    const cells = plan === 'cells' ? cellsFor(costs, perDay) : 1;
    const span = plan === 'as built' ? partSpan : largePartSpan;
    const workload = cellOf(perDay, cells);
    const site = siteFor({ costs, workload }, span);
    return { name, costs, site, workload, cells, notBuilt: missing[plan] };
  };
  return [
    alone('10⁵', 1e5, oneMachine(2, 1)),
    alone('10⁶', 1e6, oneMachine(2, 1)),
    alone('10⁷', 1e7, oneMachine(8, 2)),
    apart('10⁸', 1e8, 'as built'),
    apart('10⁸', 1e8, 'larger parts'),
    apart('10⁸', 1e8, 'cells'),
    apart('10⁹', 1e9, 'as built'),
    apart('10⁹', 1e9, 'cells'),
  ];
}

type Plan = 'as built' | 'larger parts' | 'cells';

const missing: Readonly<Record<Plan, string | null>> = {
  'as built': null,
  'larger parts': 'parts of 2³¹',
  cells: 'parts of 2³¹, cells',
};

type Asked = Pick<Question, 'costs' | 'workload'>;

/** A cell gets its share; the busiest source is in one of them as a whole. */
function cellOf(deliveriesPerDay: number, cells: number): Workload {
  const hottestShare = Math.min(1, usual.hottestShare * cells);
  return { ...usual, deliveriesPerDay: deliveriesPerDay / cells, hottestShare };
}

/** As many processes and machines as keep each of them under `busyMax` at the peak. */
function siteFor(asked: Asked, partSpan: number): Site {
  let counts = { acceptProcesses: 2, parseProcesses: 2, storeMachines: 4, engineNodes: 2 };
  const peak = peakOf(asked.workload);
  // What a process costs depends on how many share the work: found in some rounds.
  for (let i = 0; i < 30; i++) {
    const site = spread({ ...counts, partSpan });
    const question = { ...asked, site };
    const cores = coresAt(question, peak);
    const enough = (cores: number, each: number) => Math.ceil(cores / each / assumed.busyMax);
    const disks = diskNeeds(question);
    const parsing = ratesAt(question, peak).filter(({ name }) => name.startsWith('parsing '));
    const busy = Math.max(...parsing.map(({ needed, limit }) => needed / limit));
    counts = {
      acceptProcesses: Math.max(2, enough(cores.acceptLoops, 1)),
      parseProcesses: Math.max(2, enough(busy * site.parseProcesses, 1)),
      storeMachines: Math.max(
        ...[4, enough(cores.store, site.storeCores), enough(disks.store, site.storeDiskBytes)],
        enough(disks.objects, assumed.objectsPerStoreMachine),
      ),
      engineNodes: Math.max(
        ...[2, enough(cores.engine, site.storeCores), enough(disks.rows, site.storeDiskBytes)],
      ),
    };
  }
  return spread({ ...counts, partSpan });
}

/** As many as keep the ledger, the disk and the cores of each one's Postgres under `busyMax`. */
function cellsFor(costs: Costs, perDay: number): number {
  for (let cells = 1; ; cells++) {
    const asked = { costs, workload: cellOf(perDay, cells) };
    const question = { ...asked, site: siteFor(asked, largePartSpan) };
    const own = needsOf(question).filter(({ name }) => /^ledger$|Postgres/.test(name));
    if (own.every(({ needed, limit }) => needed / limit <= assumed.busyMax)) return cells;
  }
}

/** What is kept at the end: bytes of each store, and objects. */
export function diskNeeds(question: Question) {
  const { costs, site, workload } = question;
  const { deliveriesPerDay, documentShare, daysKept, peakFactor } = workload;
  const kept = deliveriesPerDay * daysKept;
  const mean = sharingAt(question, peakOf(workload) / peakFactor);
  const objectsADay = mean.putsPerSecond * 86_400;
  const perDelivery = costs.partBytes + costs.globalTableBytes + costs.globalIndexBytes;
  const body = (1 - documentShare) * costs.pushBytes + documentShare * costs.documentBytes;
  // A set of drives keeps each object with as much again, so that drives may be lost.
  const copies = site.isOneMachine ? 1 : 2;
  const rows = mean.rowsPerSecond * 86_400 * daysKept;
  return {
    catalog: kept * perDelivery,
    store: kept * (body + indexLineBytes) * copies,
    rows: rows * assumed.rowBytes * copies,
    ...{ objects: objectsADay * daysKept, objectsADay },
  };
}

/** Of each body in a segment, its line in the index (`domain/limits.ts` says some 400 bytes). */
const indexLineBytes = 400;

/** What fills up over the days that are kept, or is another's limit. */
export function fillsOf(question: Question): Resource[] {
  const { site, workload, costs } = question;
  const peak = peakOf(workload);
  const needs = diskNeeds(question);
  const { insertsPerSecond, rowsPerSecond } = sharingAt(question, peak);
  const body =
    (1 - workload.documentShare) * costs.pushBytes + workload.documentShare * costs.documentBytes;
  const hot = workload.hottestShare;
  const bytes = (name: string, needed: number, limit: number, remedy: string): Resource => ({
    ...{ name, needed, limit, unit: 'bytes', remedy },
  });
  const inserts = {
    ...{ name: 'inserts of a ClickHouse node', needed: insertsPerSecond, unit: '/s' },
    ...{ limit: assumed.insertsPerSecond, remedy: 'a longer `insertSpacingMs`, fewer parsers' },
  };
  const turns = {
    ...{
      name: 'turns of the busiest source',
      unit: 'settled/s',
      remedy: 'parse again in portions',
    },
    needed: (workload.deliveriesPerDay * workload.reparsedShare * hot) / 86_400,
    limit: costs.settledPerSecond,
  };
  if (site.isOneMachine) {
    const all = needs.catalog + needs.store + needs.rows;
    return [bytes('disk', all, site.diskBytes, 'a larger disk, then the stores apart'), turns];
  }
  const { storeMachines, engineNodes } = site;
  const hotCores = (hot * rowsPerSecond * costs.insertCpuUs.perUnit) / 1e6;
  return [
    bytes('disk of Postgres', needs.catalog, site.diskBytes, `${moreCells}, or fewer days in it`),
    bytes('disk of the object store', needs.store, storeMachines * site.storeDiskBytes, 'more'),
    bytes('disk of ClickHouse', needs.rows, engineNodes * site.storeDiskBytes, 'more nodes'),
    {
      ...{ name: 'objects', needed: needs.objects, unit: 'objects', remedy: 'more machines' },
      limit: storeMachines * assumed.objectsPerStoreMachine,
    },
    ...[inserts, turns],
    {
      ...{ name: 'network of a node', unit: 'bytes/s', remedy: 'more nodes' },
      // In, to the store, back to be parsed, and the rows.
      needed: (peak * 3 * body + rowsPerSecond * wireRowBytes) / site.nodes,
      limit: assumed.networkBytesPerSecond,
    },
    {
      ...{ name: 'busiest source in ClickHouse', needed: hotCores, limit: site.storeCores },
      ...{ unit: 'cores', remedy: 'none: a source is on one node' },
    },
    {
      ...{ name: 'busiest source in its ledger', needed: hot * peak, unit: 'receipts/s' },
      limit: ledgerCapacity(question),
      remedy: 'none: a source is in one cell',
    },
  ];
}

/** A row as text, on its way to ClickHouse. */
const wireRowBytes = 150;

/** All of a step, the busiest first. */
export function needsOf(question: Question): Resource[] {
  const all = [...ratesAt(question, peakOf(question.workload)), ...fillsOf(question)];
  return all.sort((a, b) => b.needed / b.limit - a.needed / a.limit);
}

export interface Sized {
  readonly step: Step;
  readonly peak: number;
  /** Deliveries a second that the site takes and parses. */
  readonly capacity: number;
  readonly sharing: ReturnType<typeof sharingAt>;
  readonly cores: ReturnType<typeof coresAt>;
  readonly disks: ReturnType<typeof diskNeeds>;
  readonly parts: number;
  readonly missShare: number;
  readonly needs: readonly Resource[];
}

export function sizedOf(step: Step): Sized {
  const peak = peakOf(step.workload);
  return {
    ...{ step, peak, capacity: capacityOf(step).rate, sharing: sharingAt(step, peak) },
    ...{ cores: coresAt(step, peak), disks: diskNeeds(step), needs: needsOf(step) },
    ...{ parts: partsOf(step), missShare: missShare(step) },
  };
}
