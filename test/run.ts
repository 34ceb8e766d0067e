/**
 * `npm test`: everything that is checked, one step after the other, stopping at the first failure.
 * `npm test -- <words>` runs only the suites whose path holds one of the words.
 */
import { spawnSync } from 'node:child_process';

const words = process.argv.slice(2);

function step(name: string, command: string, args: readonly string[]): void {
  const started = performance.now();
  console.log(`\n== ${name}`);
  const { status } = spawnSync(command, args, { stdio: 'inherit' });
  const seconds = ((performance.now() - started) / 1_000).toFixed(0);
  console.log(`== ${name}: ${status === 0 ? 'ok' : `failed (${status})`}, ${seconds} s`);
  if (status !== 0) process.exit(status ?? 1);
}

if (words.length === 0) {
  step('types', 'tsc', ['-p', '.']);
  step("the console's types", 'tsc', ['-p', 'src/console']);
  step('lint and format', 'biome', ['check', '.']);
}
step('tests', 'vitest', ['run', ...words]);
