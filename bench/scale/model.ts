import { limits } from '../../src/domain/limits.ts';
import type { Costs } from './costs.ts';
import { costOf } from './fit.ts';
import { assumed, type Site } from './sites.ts';

/** What comes in. */
export interface Workload {
  readonly deliveriesPerDay: number;
  /** The busiest minute against the mean of a day. */
  readonly peakFactor: number;
  /** Of all deliveries, documents; the others are pushes. Their sizes are those measured. */
  readonly documentShare: number;
  readonly daysKept: number;
  /** Of all deliveries, those of the busiest source. */
  readonly hottestShare: number;
  /** Of all deliveries, those that are parsed again, on the day on which that is done. */
  readonly reparsedShare: number;
}

/** The mixture of all steps; whoever has another one puts it in here. */
export const usual: Omit<Workload, 'deliveriesPerDay'> = {
  ...{ peakFactor: 4, documentShare: 0.0001, daysKept: 365, hottestShare: 0.01 },
  reparsedShare: 0.001,
};

/** What somebody has to be able to do, and how much of that is asked for. */
export interface Resource {
  readonly name: string;
  readonly needed: number;
  readonly limit: number;
  readonly unit: string;
  readonly remedy: string;
}

export function utilization({ needed, limit }: Resource): number {
  return needed / limit;
}

/** What a site can be asked for, with what it was measured to cost. */
export interface Question {
  readonly costs: Costs;
  readonly site: Site;
  readonly workload: Workload;
}

const secondsADay = 86_400;

export function peakOf({ deliveriesPerDay, peakFactor }: Workload): number {
  return (deliveriesPerDay * peakFactor) / secondsADay;
}

/** Pushes that share a segment of a process to which so many come in a second. */
export function segmentSize(costs: Costs, pushesPerSecond: number): number {
  let size = 1;
  for (let i = 0; i < 60; i++) {
    const next = (pushesPerSecond * segmentMs(costs, size)) / 1_000;
    size = (size + Math.min(Math.max(1, next), segmentMax(costs))) / 2;
  }
  return size;
}

function segmentMax({ pushBytes }: Costs): number {
  return Math.min(limits.segmentBodiesMax, Math.floor(limits.segmentBytesMax / pushBytes));
}

/** From one segment's leaving to the next one's: its way, then the wait for who was answered. */
function segmentMs(costs: Costs, size: number): number {
  const way = segmentWayMs(costs, size);
  const { share, msMax } = limits.segmentPatience;
  return way + (size > 1 ? Math.min(share * way, msMax) : 0);
}

function segmentWayMs(costs: Costs, size: number): number {
  return costOf(costs.putMs, size * costs.pushBytes) + costs.acceptLoopUs.each / 1_000;
}

/** Parts of the table of deliveries at the end of what is kept. */
export function partsOf({ site, workload }: Question): number {
  const { deliveriesPerDay, daysKept } = workload;
  return Math.ceil((deliveriesPerDay * daysKept) / site.partSpan);
}

/** Of the pages of indexes that are written at random places, those that are not in memory. */
export function missShare({ costs, site, workload }: Question): number {
  const kept = workload.deliveriesPerDay * workload.daysKept;
  const memory = site.memoryBytes * assumed.memoryShare;
  return Math.max(0, 1 - memory / (kept * costs.globalIndexBytes));
}

/** So long a group has the ledger to itself, which is one for all nodes. */
export function groupMs(question: Question, size: number): number {
  const { costs } = question;
  const parts = costs.groupMsPerPart * Math.max(0, partsOf(question) - 1);
  const reads = size * assumed.randomPages * missShare(question) * assumed.readMs;
  return costOf(costs.groupMs, size) + parts + reads;
}

export function ledgerCapacity(question: Question): number {
  const size = limits.ledgerGroupMax;
  return (1_000 * size) / groupMs(question, size);
}

/** Shared writes where so many deliveries come in a second. */
export interface Sharing {
  readonly perSegment: number;
  readonly perGroup: number;
  readonly putsPerSecond: number;
  readonly insertsPerSecond: number;
  readonly rowsPerSecond: number;
}

export function sharingAt(question: Question, rate: number): Sharing {
  const { costs, site, workload } = question;
  const pushes = rate * (1 - workload.documentShare);
  const perSegment = segmentSize(costs, pushes / site.acceptProcesses);
  const rowsPerSecond = rate * mixed(question, (one) => one.samples);
  const { insertRowsWorth, insertSpacingMs } = limits;
  const rows = rowsPerSecond / site.parseProcesses;
  const every = Math.min(insertSpacingMs, (1_000 * insertRowsWorth) / Math.max(rows, 1e-9));
  const took = costs.insertMs.each / Math.max(1 - (rows * costs.insertMs.perUnit) / 1_000, 0.01);
  // Nobody inserts for whom nothing has come.
  const insertsPerSecond = Math.min(rate, (1_000 * site.parseProcesses) / Math.max(every, took));
  return {
    perSegment,
    perGroup: groupSize(question, rate, perSegment),
    putsPerSecond: pushes / perSegment + rate * workload.documentShare,
    insertsPerSecond,
    rowsPerSecond,
  };
}

/** A segment's pushes claim together; what comes while the ledger is another's joins them. */
function groupSize(question: Question, rate: number, perSegment: number): number {
  if ((rate / perSegment) * groupMs(question, perSegment) < 1_000) return perSegment;
  let size = perSegment;
  for (let i = 0; i < 60; i++) {
    size = Math.min(limits.ledgerGroupMax, (rate * groupMs(question, size)) / 1_000);
  }
  return Math.max(size, perSegment);
}

/** What a delivery of the mixture costs in parsing. */
function mixed({ costs, workload }: Question, of: (cost: Costs['parsePush']) => number): number {
  const { documentShare } = workload;
  return (1 - documentShare) * of(costs.parsePush) + documentShare * of(costs.parseDocument);
}

/** Cores that each part keeps busy at so many deliveries a second. */
export function coresAt(question: Question, rate: number) {
  const { costs, site, workload } = question;
  const { documentShare } = workload;
  const shared = sharingAt(question, rate);
  const pushes = rate * (1 - documentShare);
  const segments = pushes / shared.perSegment;
  const accepting = (line: Costs['acceptLoopUs'], documentUs: number) =>
    pushes * line.perUnit + segments * line.each + rate * documentShare * documentUs;
  const put = (bytes: number) => costOf(costs.putCpuUs, bytes);
  const groups = rate / shared.perGroup;
  const inserts = shared.insertsPerSecond * costs.insertCpuUs.each;
  const us = {
    acceptLoops: accepting(costs.acceptLoopUs, costs.acceptDocument.loopUs),
    accept: accepting(costs.acceptAllUs, costs.acceptDocument.allUs),
    parseLoops: rate * mixed(question, (one) => one.loopUs),
    parseThreads: rate * mixed(question, (one) => one.threadUs),
    postgres:
      groups * costOf(costs.groupCpuUs, shared.perGroup) +
      rate * mixed(question, (one) => one.catalogUs) +
      planningUs(question, groups),
    store:
      segments * put(shared.perSegment * costs.pushBytes) +
      rate * documentShare * put(costs.documentBytes) +
      rate * mixed(question, (one) => one.readUs),
    redis: rate * costs.redisUs,
    // Of each insert every node of ClickHouse gets the rows of its sources.
    engine: inserts * site.engineNodes + shared.rowsPerSecond * costs.insertCpuUs.perUnit,
  };
  type Part = keyof typeof us;
  const cores = Object.entries(us).map(([part, value]) => [part, value / 1e6]);
  return Object.fromEntries(cores) as Record<Part, number>;
}

/**
 * Planning of claims over all parts, a second: with each group that is stored one of the processes
 * claims, and what comes until it is back waits for its next claim.
 */
function planningUs(question: Question, groups: number): number {
  const { parseProcesses } = question.site;
  const busy = (groups * planMs(question)) / 1_000 / parseProcesses;
  return parseProcesses * (busy / (1 + busy)) * 1e6;
}

export function planMs(question: Question): number {
  return question.costs.claimMsPerPart * Math.max(0, partsOf(question) - 1);
}

/** What a site is asked for at so many deliveries a second, of what can be had only so fast. */
export function ratesAt(question: Question, rate: number): Resource[] {
  const { site } = question;
  const cores = coresAt(question, rate);
  const loops = (name: string, needed: number, limit: number, remedy: string): Resource => ({
    ...{ name, needed, limit, unit: 'cores', remedy },
  });
  const own = [
    loops('accepting loops', cores.acceptLoops, site.acceptProcesses, 'more processes'),
    loops('parsing loops', cores.parseLoops, site.parseProcesses, 'more parsing processes'),
    loops(
      'parsing threads',
      cores.parseThreads,
      site.parseProcesses * site.parseThreads,
      'more parsing processes',
    ),
    loops(
      'claims and completions',
      // Half of it each; a process has one of each under way.
      (rate * mixed(question, (one) => one.catalogUs)) / 2e6 +
        (rate / limits.parseClaimMax) * (planMs(question) / 1_000),
      site.parseProcesses,
      'more parsing processes',
    ),
    {
      ...{
        name: 'parsing processes hold',
        needed: (rate / site.parseProcesses) * heldS(question, rate),
      },
      // It claims while it holds half at most: then up to a whole claim more.
      limit: limits.parseHeldMax / 2 + limits.parseClaimMax,
      ...{ unit: 'deliveries', remedy: 'more parsing processes' },
    },
    {
      ...{ name: 'ledger', needed: rate, limit: ledgerCapacity(question), unit: 'receipts/s' },
      remedy: ledgerRemedy(question),
    },
  ];
  if (site.isOneMachine) {
    const { accept, parseLoops, parseThreads, postgres, store, redis, engine } = cores;
    const all = accept + parseLoops + parseThreads + postgres + store + redis + engine;
    return [...own, loops('cores', all, site.cores, 'a larger machine, then the stores apart')];
  }
  const stores = site.storeMachines * site.storeCores;
  const engines = site.engineNodes * site.storeCores;
  return [
    ...own,
    loops('cores of Postgres', cores.postgres, site.cores, moreCells),
    loops('cores of the object store', cores.store, stores, 'more of its machines'),
    loops('cores of ClickHouse', cores.engine, engines, 'more of its nodes, by source'),
  ];
}

/** Sources shared out to several services, each with stores of its own. */
export const moreCells = 'several cells';

/**
 * Seconds for which a parsing process holds a delivery: one claim and its handing out, the wait for
 * the insert, that, and the completion of all that are in it. Above half of what it may hold it
 * claims no more.
 */
function heldS(question: Question, rate: number): number {
  const { costs, site } = question;
  const perSecond = rate / site.parseProcesses;
  const catalogUs = mixed(question, (one) => one.catalogUs) / 2;
  const loopUs = mixed(question, (one) => one.loopUs);
  const every = site.parseProcesses / sharingAt(question, rate).insertsPerSecond;
  const inserted = perSecond * every;
  const rows = inserted * mixed(question, (one) => one.samples);
  const claimed = Math.min(limits.parseClaimMax, inserted);
  const steps = [
    [claimed, catalogUs],
    [claimed, loopUs],
    [inserted, catalogUs],
  ] as const;
  const worked = steps.map(([size, us]) => withLine((size * us) / 1e6, (perSecond * us) / 1e6));
  return worked.reduce((sum, s) => sum + s, 0) + every / 2 + costOf(costs.insertMs, rows) / 1_000;
}

/** What a step takes with the wait for the one before it, when it is busy so much of the time. */
function withLine(seconds: number, busy: number): number {
  const share = Math.min(busy, 0.99);
  return seconds * (1 + share / (1 - share) / 2);
}

/** Whatever makes most of a full group's time. */
function ledgerRemedy(question: Question): string {
  const { costs } = question;
  const size = limits.ledgerGroupMax;
  const parts = costs.groupMsPerPart * partsOf(question);
  const reads = size * assumed.randomPages * missShare(question) * assumed.readMs;
  const own = costOf(costs.groupMs, size);
  if (parts > own && parts > reads) return 'larger parts of the table of deliveries';
  if (reads > own) return 'more memory for its indexes, or fewer days in the catalog';
  return moreCells;
}

export interface Capacity {
  /** Deliveries a second that can be kept up. */
  readonly rate: number;
  /** What then has no more to give. */
  readonly first: Resource;
}

/** Where the busiest of what can be had only so fast has no more to give: found by halving. */
export function capacityOf(question: Question): Capacity {
  let [low, high] = [1e-3, 1e8];
  for (let i = 0; i < 80; i++) {
    const rate = Math.sqrt(low * high);
    if (utilization(busiest(ratesAt(question, rate))) < 1) low = rate;
    else high = rate;
  }
  return { rate: low, first: busiest(ratesAt(question, low)) };
}

export function busiest(resources: readonly Resource[]): Resource {
  return resources.reduce((a, b) => (utilization(b) > utilization(a) ? b : a));
}

/**
 * Milliseconds from a push's coming to its receipt, on average: the wait for the segment before,
 * its own, the wait for the ledger, its own group.
 */
export function latencyMs(question: Question, rate: number): number {
  const { costs, site, workload } = question;
  const pushes = (rate * (1 - workload.documentShare)) / site.acceptProcesses;
  const { perSegment } = sharingAt(question, rate);
  const way = segmentWayMs(costs, perSegment);
  const cycle = segmentMs(costs, perSegment);
  const isBusy = Math.min(1, (pushes * cycle) / 1_000);
  return costs.acceptLoopUs.perUnit / 1_000 + isBusy * (cycle / 2) + way + ledgerMs(question, rate);
}

/** The wait for the ledger, and the group's own time. */
function ledgerMs(question: Question, rate: number): number {
  const { perSegment, perGroup } = sharingAt(question, rate);
  const hold = groupMs(question, perGroup);
  // Each process has one group under way; with the ledger never free, each waits for all others,
  // and before that for half of what its own group took that was under way.
  const most = 1.5 * question.site.acceptProcesses;
  const busy = ((rate / perSegment) * groupMs(question, perSegment)) / 1_000;
  if (busy >= 1) return hold * most;
  // A line of many, and that no line is longer than there are processes.
  const line = 1 + busy / (1 - busy) / 2;
  const round = 1 + busy / 2 + busy ** 8 * (most - 1.5);
  return hold * Math.min(line, round);
}
