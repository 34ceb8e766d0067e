import { readdirSync, readFileSync } from 'node:fs';
import type { CampaignOptions, CampaignResult, FaultCounts } from './campaign.ts';
import type { Totals } from './totals.ts';

/** A run as it is kept. */
export interface RecordedRun {
  readonly commit: string;
  /** ISO 8601, UTC; when the run ended. */
  readonly date: string;
  readonly cores: number;
  readonly options: Pick<CampaignOptions, 'seed' | 'store' | 'seconds' | 'faults'>;
  readonly faults: FaultCounts;
  readonly drainedSeconds: number | null;
  readonly totals: Totals;
  /** By the name of the check. */
  readonly checks: Readonly<Record<string, { looked: number; failures: number }>>;
}

export function recordOf(
  { options, faults, drainedSeconds, totals, checks }: CampaignResult,
  about: Pick<RecordedRun, 'commit' | 'date' | 'cores'>,
): RecordedRun {
  const { seed, store, seconds, faults: withFaults } = options;
  const judged = checks.map(({ name, looked, failures }) => [name, { looked, failures }] as const);
  return {
    ...about,
    options: { seed, store, seconds, faults: withFaults },
    ...{ faults, drainedSeconds, totals, checks: Object.fromEntries(judged) },
  };
}

/** The run for the terminal: what happened, then a line for each check. */
export function runText({
  options,
  faults,
  drainedSeconds,
  totals,
  checks,
}: CampaignResult): string {
  const { kills, serviceKills, engineKills, minioKills, stops, selfEnds } = faults;
  const first = `service ${serviceKills}, engine ${engineKills}, MinIO ${minioKills}`;
  const ofWhat = [first, ...furtherKills(faults)].join(', ');
  const { attempts, ok, refused, unknown, unknownRecovered, unknownLost } = totals;
  const { lost, duplicated, unexpected, orphans, deliveries, rows, reads, readsAnswered } = totals;
  const lines = [
    `seed ${options.seed}, ${options.store}, ${options.seconds} s`,
    `kills ${kills} (${ofWhat}), stops ${stops}, ends by itself ${selfEnds}`,
    `attempts ${attempts}: ok ${ok}, refused ${refused}, unknown ${unknown}`,
    `never answered: recovered ${unknownRecovered}, lost ${unknownLost}`,
    `deliveries ${deliveries}, rows ${rows}, reads ${readsAnswered} of ${reads} answered`,
    `lost ${lost}, duplicated ${duplicated}, unexpected ${unexpected}, orphans ${orphans}`,
    `all final after ${drainedSeconds?.toFixed(1) ?? 'more than the stated'} s`,
  ];
  for (const { name, looked, failures, told } of checks) {
    lines.push(`  ${failures === 0 ? 'holds' : 'FAILS'}  ${name}: ${failures} of ${looked}`);
    for (const sentence of told) lines.push(`         ${sentence}`);
  }
  return lines.join('\n');
}

/** What was kept of runs, the newest first. @param folder ends with a slash */
export function readRuns(folder: URL): RecordedRun[] {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  const runs = names.map((name) => JSON.parse(readFileSync(new URL(name, folder), 'utf8')));
  return (runs as RecordedRun[]).sort((a, b) => (a.date < b.date ? 1 : -1));
}

const begin = '<!-- storms -->';
const end = '<!-- /storms -->';

/**
 * Puts the table of the runs between its marks.
 *
 * @throws Error when the marks are not there
 */
export function withRuns(page: string, runs: readonly RecordedRun[]): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)];
  if (from < 0 || to < from) throw new Error('the page has no place for the runs');
  return `${page.slice(0, from)}${begin}\n${tableOf(runs)}\n${page.slice(to)}`;
}

const columns: readonly (readonly [string, (run: RecordedRun) => string | number])[] = [
  ['date (UTC)', ({ date }) => date.slice(0, 16).replace('T', ' ')],
  ['commit', ({ commit }) => commit],
  ['seed', ({ options }) => options.seed],
  ['store', ({ options }) => options.store],
  ['minutes', ({ options }) => Number((options.seconds / 60).toFixed(1))],
  ['kills: service, engine, MinIO', ({ faults }) => killsText(faults)],
  ['stops', ({ faults }) => faults.stops],
  ['attempts', ({ totals }) => totals.attempts],
  ['ok', ({ totals }) => totals.ok],
  ['refused', ({ totals }) => totals.refused],
  ['unknown', ({ totals }) => totals.unknown],
  [
    'never answered: there, not there',
    ({ totals }) => `${totals.unknownRecovered}, ${totals.unknownLost}`,
  ],
  ['lost', ({ totals }) => totals.lost],
  ['duplicated', ({ totals }) => totals.duplicated],
  ['unexpected', ({ totals }) => totals.unexpected],
  ['orphans', ({ totals }) => totals.orphans],
  [
    'all final after',
    ({ drainedSeconds: s }) => (s === null ? 'not in time' : `${s.toFixed(1)} s`),
  ],
];

function killsText(faults: FaultCounts): string {
  const { kills, serviceKills, engineKills, minioKills } = faults;
  if (kills === 0) return 'none';
  const first = `${kills}: ${serviceKills}, ${engineKills}, ${minioKills}`;
  return [first, ...furtherKills(faults)].join(', ');
}

/** Of what only a service of several processes has. */
function furtherKills({ processKills, postgresKills, redisKills }: FaultCounts): string[] {
  if (processKills === undefined) return [];
  return [`process ${processKills}`, `Postgres ${postgresKills}`, `Redis ${redisKills}`];
}

function tableOf(runs: readonly RecordedRun[]): string {
  const line = (cells: readonly (string | number)[]) => `| ${cells.join(' | ')} |`;
  const heads = columns.map(([head]) => head);
  const rows = runs.map((run) => columns.map(([, cell]) => cell(run)));
  return [heads, heads.map(() => '---'), ...rows].map(line).join('\n');
}
