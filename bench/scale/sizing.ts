import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { figure } from '../report/numbers.ts';
import { agreementOf, type Compared } from './agreement.ts';
import { utilization } from './model.ts';
import { cpuTable, gainTable, markdown, roundTable, type ScaleResult } from './report.ts';
import { type Sized, type Step, sizedOf, stepsOf } from './steps.ts';

/** The result of the newest full run. */
export const newestCosts = fileURLToPath(new URL('newest.json', import.meta.url));
export const sizingPath = fileURLToPath(new URL('../../deploy/SIZING.md', import.meta.url));

const [begin, end] = ['<!-- sizing -->\n', '\n<!-- /sizing -->'];
/** Of the simulations that stand in the document. */
const seed = 20_261_122;

export function readNewest(): ScaleResult {
  return JSON.parse(readFileSync(newestCosts, 'utf8')) as ScaleResult;
}

/** Puts the tables of the newest run between the marks of the document. */
export function writeSizing(): void {
  writeFileSync(sizingPath, withTables(readFileSync(sizingPath, 'utf8'), readNewest()));
}

/** @throws Error when the marks are not there */
export function withTables(document: string, result: ScaleResult): string {
  const [from, to] = [document.indexOf(begin), document.indexOf(end)];
  if (from < 0 || to < from) throw new Error('the document has no place for the tables');
  return document.slice(0, from + begin.length) + tablesOf(result) + document.slice(to);
}

function tablesOf(result: ScaleResult): string {
  const { measured, costs } = result;
  const steps = stepsOf(costs);
  const sized = steps.map(sizedOf);
  return [
    `## Measured\n\n${originOf(result)}`,
    '### One process and two',
    markdown(gainTable(measured)),
    markdown(roundTable(measured)),
    '### Processor time of each part',
    markdown(cpuTable(measured)),
    '### Writes to the stores',
    markdown(writeTable(result)),
    markdown(partsTable(result)),
    markdown(bytesTable(result)),
    settled(result),
    '## From 10⁵ to 10⁹ deliveries a day',
    markdown(stepTable(sized)),
    'What each step breaks on, its three busiest needs with their share of the limit:',
    markdown(needsTable(sized)),
    'What goes on at the peak, in each cell:',
    markdown(flowTable(sized)),
    'And what is kept at the end, in each cell:',
    markdown(keptTable(sized)),
    '## Model and simulation',
    agreementNote,
    markdown(agreementTable(steps)),
  ].join('\n\n');
}

function originOf({ date, commit, machine }: ScaleResult): string {
  const { cpu, cores, memoryGiB, kernel, loadBefore, versions } = machine;
  const when = `${date.slice(0, 16).replace('T', ' ')} UTC, commit ${commit}`;
  const where = `${cpu} with ${cores} cores and ${memoryGiB} GiB, ${kernel}`;
  return `${when}, ${where}; load before ${figure(loadBefore)}. node ${versions.node}.`;
}

function writeTable({ measured }: ScaleResult): string[][] {
  const { ledger, puts, inserts } = measured;
  const line = (name: string, units: number, ms: number, us: number) => [
    ...[name, String(units), figure(ms), figure(us / 1_000)],
  ];
  return [
    ['one write', 'of', 'ms', "ms of the store's CPU"],
    ...ledger.groups.map(({ size, ms, cpuUs }) => line('group, receipts', size, ms, cpuUs)),
    ...puts.points.map(({ units, ms, cpuUs }) => line('object, bytes', units, ms, cpuUs)),
    ...inserts.points.map(({ units, ms, cpuUs }) => line('insert, rows', units, ms, cpuUs)),
  ];
}

function partsTable({ measured }: ScaleResult): string[][] {
  return [
    [
      ...['parts of the table of deliveries', 'group of 64, ms', 'ms of CPU'],
      ...['claim of one, ms', 'ms of CPU'],
    ],
    ...measured.ledger.parts.map(({ parts, groupMs, groupCpuUs, claimMs, claimCpuUs }) => [
      ...[String(parts), figure(groupMs), figure(groupCpuUs / 1_000)],
      ...[figure(claimMs), figure(claimCpuUs / 1_000)],
    ]),
  ];
}

function bytesTable({ measured }: ScaleResult): string[][] {
  const { ledger } = measured;
  return [
    [`of ${ledger.deliveries} deliveries in Postgres`, 'bytes each'],
    ...ledger.relations.map(({ name, bytes }) => [`\`${name}\``, figure(bytes)]),
  ];
}

function settled({ measured }: ScaleResult): string {
  const { deliveries, seconds, engineMs } = measured.settle;
  return (
    `Parsed again: ${deliveries} pushes of one source in ${figure(seconds)} s, ` +
    `${figure(engineMs)} ms of ClickHouse's CPU for all of them.`
  );
}

const percent = (share: number) => `${(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`;

function stepTable(sized: readonly Sized[]): string[][] {
  return [
    [
      ...['deliveries a day', 'assumes', 'cells', 'runs on', 'accepting', 'parsing'],
      ...['object store', 'ClickHouse', 'peak/s', 'takes/s', 'breaks first', 'what to do'],
    ],
    ...sized.map(({ step, peak, capacity, needs }) => {
      const { site } = step;
      const apart = (count: number) => (site.isOneMachine ? '–' : String(count));
      return [
        ...[step.name, step.notBuilt ?? 'as built', String(step.cells), site.name],
        ...[String(site.acceptProcesses), String(site.parseProcesses)],
        ...[apart(site.storeMachines), apart(site.engineNodes), figure(peak), figure(capacity)],
        ...[`${needs[0]!.name}, ${percent(utilization(needs[0]!))}`, needs[0]!.remedy],
      ];
    }),
  ];
}

function needsTable(sized: readonly Sized[]): string[][] {
  return [
    ['deliveries a day', 'assumes', 'first', 'then', 'then'],
    ...sized.map(({ step, needs }) => [
      ...[step.name, step.notBuilt ?? 'as built'],
      ...needs.slice(0, 3).map((one) => `${one.name} ${percent(utilization(one))}`),
    ]),
  ];
}

function flowTable(sized: readonly Sized[]): string[][] {
  return [
    [
      ...['deliveries a day', 'assumes', 'pushes in a segment', 'receipts in a group', 'PUTs/s'],
      ...['commits/s', 'inserts/s', 'rows/s', 'cores of weir', 'Postgres', 'store', 'ClickHouse'],
    ],
    ...sized.map(({ step, peak, sharing, cores }) => [
      ...[step.name, step.notBuilt ?? 'as built', figure(sharing.perSegment)],
      ...[figure(sharing.perGroup), figure(sharing.putsPerSecond)],
      ...[figure(peak / sharing.perGroup), figure(sharing.insertsPerSecond)],
      figure(sharing.rowsPerSecond),
      figure(cores.accept + cores.parseLoops + cores.parseThreads),
      ...[figure(cores.postgres), figure(cores.store), figure(cores.engine)],
    ]),
  ];
}

function keptTable(sized: readonly Sized[]): string[][] {
  const tb = (bytes: number) => figure(bytes / 1e12);
  return [
    [
      ...['deliveries a day', 'assumes', 'Postgres, TB', 'object store, TB', 'ClickHouse, TB'],
      ...['objects a day', 'parts', 'index pages not in memory'],
    ],
    ...sized.map(({ step, disks, parts, missShare }) => [
      ...[step.name, step.notBuilt ?? 'as built', tb(disks.catalog), tb(disks.store)],
      ...[tb(disks.rows), figure(disks.objectsADay), String(parts), percent(missShare)],
    ]),
  ];
}

/** Steps that differ in what limits them; a billion in one cell would be simulated for an hour. */
export function simulatedSteps(steps: readonly Step[]): Step[] {
  return steps.filter(({ name, notBuilt }) => name !== '10⁹' || notBuilt !== null);
}

const agreementNote =
  'The model first, then the simulation. Time to a receipt and busy cores are at half of what is ' +
  'taken; what piles up, of what comes, at 90 % of it (75 % on one machine) and at 125 %.';

function agreementTable(steps: readonly Step[]): string[][] {
  const both = (one: Compared | undefined | null) =>
    one ? `${figure(one.model)}, ${figure(one.simulated)}` : '–';
  return [
    [
      ...['deliveries a day', 'assumes', 'limited by', 'takes/s', 'ms to a receipt'],
      ...['busy cores', 'piles up below', 'at 125 %'],
    ],
    ...simulatedSteps(steps).map((step) => {
      const { overload, latency, cores, first, below } = agreementOf(step, seed);
      return [
        ...[step.name, step.notBuilt ?? 'as built', first.name, both(overload?.taken)],
        ...[both(latency), both(cores), percent(Math.max(0, below))],
        overload ? `${percent(overload.growth)} (${overload.longest})` : '–',
      ];
    }),
  ];
}
