import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { commitOf, describeMachine } from '../report/machine.ts';
import { World } from '../world/world.ts';
import { costsOf } from './costs.ts';
import { measureScale } from './measure.ts';
import { type ScaleResult, scaleText } from './report.ts';
import { newestCosts, writeSizing } from './sizing.ts';

/**
 * `npm run bench:scale`: what a delivery costs each part of a service of several processes on
 * Postgres, MinIO, Redis and ClickHouse, and what a second accepting process adds. A full run is
 * kept in `results/`, and becomes the costs that `deploy/SIZING.md` is made of. `-- --quick`
 * measures shorter and changes neither; `-- --sizing` only writes SIZING.md again.
 */

const { values } = parseArgs({
  options: { quick: { type: 'boolean' }, sizing: { type: 'boolean' } },
});
if (values.sizing) writeSizing();
else await measure(values.quick ? 'quick' : 'full');

async function measure(size: 'quick' | 'full'): Promise<void> {
  const machine = describeMachine();
  const [commit, date] = [commitOf(), new Date().toISOString()];
  const started = performance.now();
  const world = new World(size);
  process.setMaxListeners(100);
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => void world.end().finally(() => process.exit(1)));
  }
  const tell = (what: string) => {
    console.log(`${((performance.now() - started) / 1_000).toFixed(0).padStart(4)} s  ${what}`);
  };
  try {
    const measured = await measureScale(world, tell);
    const result: ScaleResult = { commit, date, size, machine, costs: costsOf(measured), measured };
    console.log(`\n${scaleText(result)}`);
    if (size === 'full') keep(result);
  } finally {
    await world.end();
  }
}

function keep(result: ScaleResult): void {
  const folder = fileURLToPath(new URL('results/', import.meta.url));
  mkdirSync(folder, { recursive: true });
  const name = `${result.date.slice(0, 19).replaceAll(':', '')}.json`;
  const rounded = JSON.stringify(result, (_, value) => shortened(value), 2);
  writeFileSync(join(folder, name), `${rounded}\n`);
  writeFileSync(newestCosts, `${rounded}\n`);
  writeSizing();
  console.log(`kept as bench/scale/results/${name}; deploy/SIZING.md is written`);
}

/** Five digits that say something. */
function shortened(value: unknown): unknown {
  return typeof value === 'number' ? Number(value.toPrecision(5)) : value;
}
