import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { Command, InvalidArgumentError, Option } from 'commander';
import { commitOf } from '../../../bench/report/machine.ts';
import { runCampaign } from './campaign.ts';
import { readRuns, recordOf, runText, withRuns } from './report.ts';
import { type StoreKind, storeKinds } from './world.ts';

/**
 * `npm run faults`: a load, and kills at random times until the time is over. Exit code 0 when
 * every check of the oracle holds, else 1.
 */

interface Options {
  readonly minutes: number;
  readonly seed?: number;
  readonly store: StoreKind;
  readonly faults: boolean;
  readonly json?: string;
  readonly record?: boolean;
  readonly keep?: boolean;
}

const results = new URL('../results/', import.meta.url);
const page = new URL('../../../RELIABILITY.md', import.meta.url);

const command = new Command('faults')
  .description('kills service, engine and servers under load, and accounts for every delivery')
  .option('--minutes <n>', 'how long', positive, 10)
  .option('--seed <n>', 'of what is sent and of the faults; a new one when absent', positive)
  .addOption(new Option('--store <kind>').choices(storeKinds).default('minio'))
  .option('--no-faults', 'the load alone')
  .option('--json <file>', 'writes the result to this file')
  .option('--record', 'keeps the result, and puts it into RELIABILITY.md')
  .option('--keep', 'leaves catalog, artifacts, samples and logs of the run where they are');
const options = command.parse().opts<Options>();

// A run that is ended takes its processes along.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));
// Servers are started again and again, each of which is to end with this process.
process.setMaxListeners(100);

const { minutes, store, faults, keep = false, seed = Date.now() % 1_000_000_000 } = options;
const commit = commitOf();
console.log(`seed ${seed}`);
const tell = (line: string) => console.log(line);
const result = await runCampaign({ seed, store, seconds: 60 * minutes, faults, keep, tell });
const date = new Date().toISOString();
const recorded = recordOf(result, { commit, date, cores: cpus().length });
console.log(runText(result));
const text = `${JSON.stringify(recorded, null, 2)}\n`;
if (options.json) writeFileSync(options.json, text);
if (options.record) record();
process.exitCode = result.checks.every((check) => check.failures === 0) ? 0 : 1;

function record(): void {
  mkdirSync(results, { recursive: true });
  const name = `${date.slice(0, 19).replaceAll(':', '')}-${store}.json`;
  writeFileSync(new URL(name, results), text);
  writeFileSync(page, withRuns(readFileSync(page, 'utf8'), readRuns(results)));
  console.log(`kept as test/faults/results/${name}`);
}

function positive(value: string): number {
  const number = Number(value);
  if (!(number > 0)) throw new InvalidArgumentError('it is a number above 0');
  return number;
}
