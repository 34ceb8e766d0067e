import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import type { BenchCase, Size } from './case.ts';
import { cases } from './cases/list.ts';
import type { Measured } from './measure.ts';
import { commitOf, describeMachine } from './report/machine.ts';
import { figure, goalText } from './report/numbers.ts';
import { withNewest } from './report/readme.ts';
import { type Result, resultRow } from './report/result.ts';
import { drawResults } from './report/svg.ts';
import { tableText } from './report/table.ts';
import { runCases } from './run.ts';
import type { World } from './world/world.ts';

/**
 * `npm run bench`: every claim about weir's speed as a ratio of two things that are measured in
 * turn. Exit code 0 whatever the ratios are, 1 when an answer was wrong or a server failed.
 */

interface Options {
  readonly quick?: boolean;
  readonly only: readonly BenchCase[];
  readonly json?: string;
}

const results = fileURLToPath(new URL('results/', import.meta.url));

const command = new Command('bench')
  .description('measures weir against others, in turn, after a look at the answers')
  .option('--quick', 'fewer rounds: under 90 seconds in all')
  .option('--only <name>', `one case, may be repeated: ${names()}`, addCase, [])
  .option('--json <file>', 'writes the result to this file too');
const { quick, only, json } = command.parse().opts<Options>();

const size: Size = quick ? 'quick' : 'full';
const chosen = cases.filter((bench) => only.length === 0 || only.includes(bench));
const machine = describeMachine();
const commit = commitOf();
const date = new Date().toISOString();
const started = performance.now();
let world: World | null = null;
endWorldOnSignal();
// Every server that is started is to end with this process, however it ends.
process.setMaxListeners(100);
const rows = await runCases(chosen, { size, tell, onWorld: (made) => (world = made) });

const result: Result = { commit, date, size, machine, results: rows.map(resultRow) };
const seconds = ((performance.now() - started) / 1_000).toFixed(0);
const where = `${machine.cpu}, ${machine.cores} cores`;
console.log(`\n${tableText(result.results)}\n\n${commit}, ${where}, ${seconds} s`);
if (json) writeFileSync(json, `${JSON.stringify(result, null, 2)}\n`);
if (chosen.length === cases.length) keep();

/** A run of all cases is kept, dated; the README shows the newest full one. */
function keep(): void {
  mkdirSync(results, { recursive: true });
  const name = `${date.slice(0, 19).replaceAll(':', '')}-${size}`;
  writeFileSync(join(results, `${name}.json`), `${JSON.stringify(result, null, 2)}\n`);
  const caption = `${date.slice(0, 10)}, ${commit}, ${where}, ${size}`;
  const picture = drawResults(result.results, caption);
  writeFileSync(join(results, `${name}.svg`), picture);
  if (size === 'full') {
    writeFileSync(join(results, 'newest.svg'), picture);
    const readme = fileURLToPath(new URL('README.md', import.meta.url));
    writeFileSync(readme, withNewest(readFileSync(readme, 'utf8'), result));
  }
  console.log(`kept as bench/results/${name}.json and .svg`);
}

function tell(bench: BenchCase, { variant, ours, theirs, ...measured }: Measured): void {
  const { ratio, goal, notes, seconds } = measured;
  const figures = `${figure(ours)} against ${figure(theirs)} ${bench.unit}, ratio ${figure(ratio)}`;
  const about = `goal ${goalText(goal, bench.unit)}, ${seconds.toFixed(0)} s`;
  console.log(`${bench.name} (${variant}): ${figures}, ${about}`);
  for (const note of notes) console.log(`  ${note}`);
}

function addCase(name: string, before: readonly BenchCase[]): BenchCase[] {
  const found = cases.find((bench) => bench.name === name);
  if (!found) throw new InvalidArgumentError(`it is none of ${names()}`);
  return [...before, found];
}

function names(): string {
  return cases.map(({ name }) => name).join(', ');
}

function endWorldOnSignal(): void {
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => {
      void (world?.end() ?? Promise.resolve()).finally(() => process.exit(1));
    });
  }
}
