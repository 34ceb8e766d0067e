import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SourceClient } from './client.ts';
import { compare } from './compare.ts';
import { freePorts, isFree, RunningWeir } from './running-weir.ts';
import {
  demoTimezone,
  employment,
  pushedMonths,
  type Series,
  unemployment,
  weather,
} from './series.ts';

/**
 * `npm run demo`: weir from nothing to samples, with real series. Without `--once` it keeps running.
 * Exit code 1 when any number read differs from the one in its data file.
 */
const once = process.argv.includes('--once');
const dataDir = mkdtempSync(join(tmpdir(), 'weir-demo-'));
const weir = new RunningWeir({ dataDir, ...(await ports()) });

let differences = 0;
try {
  const started = performance.now();
  await weir.start();
  say(`weir serves at ${weir.url} (ready in ${seconds(started)}), its data is in ${dataDir}`);
  const company = await weir.cli<{ company_id: string }>(
    ...['company', 'create', '--name', 'Demo', '--timezone', demoTimezone],
  );
  for (const series of [employment(), weather(), unemployment(), pushedMonths()]) {
    differences += await show(company.company_id, series);
  }
  say(
    differences === 0
      ? `\nEvery number read is the one in its data file. (${seconds(started)})`
      : `\n${differences} numbers differ from their data files.`,
  );
  if (!once && differences === 0) await keepRunning();
} finally {
  await weir.end();
  rmSync(dataDir, { recursive: true, force: true });
}
process.exitCode = differences === 0 ? 0 : 1;

/** The usual ports where they are free, so that the addresses are those of the README. */
async function ports(): Promise<{ api: number; app: number; ops: number }> {
  const usual = { api: 8080, app: 8081, ops: 8082 };
  const free = await Promise.all(Object.values(usual).map(isFree));
  if (!once && free.every(Boolean)) return usual;
  const [api, app, ops] = await freePorts(3);
  return { api: api!, app: app!, ops: ops! };
}

/** Declares, sends, waits, reads and compares one series. @returns how many numbers differ */
async function show(companyId: string, series: Series): Promise<number> {
  say(`\n${series.title} (${series.delivery})`);
  const { sourceId, accessKey } = await declare(companyId, series);
  const client = new SourceClient(weir.url, accessKey);
  for (const delivery of series.deliveries) {
    const artifactId = await client.send(delivery);
    const view = await client.settled(artifactId);
    const { records, samples, blank, rejected } = view.counts;
    say(
      `  ${delivery.corrects ? 'correction' : 'accepted  '} ${delivery.key}: ${view.bytes} bytes, ` +
        `${records} records, ${samples} samples, ${blank} blank, ${rejected} rejected`,
    );
  }
  const result = await compare(client, series);
  for (const line of result.lines) say(`  ${line}`);
  if (!once) say(`  source ${sourceId}, key ${accessKey}`);
  return result.differences;
}

async function declare(companyId: string, series: Series) {
  for (const { key, unit } of series.metrics) {
    const labels = series.labels.length > 0 ? ['--labels', series.labels.join(',')] : [];
    const name = key.replaceAll('_', ' ');
    await weir.cli(
      ...['metric', 'declare', '--company', companyId, '--key', key, '--name', name],
      ...['--unit', unit, ...labels],
    );
  }
  const shape = join(dataDir, 'shape.json');
  writeFileSync(shape, JSON.stringify({ fields: series.fields }));
  const source = await weir.cli<{ source_id: string }>(
    ...['source', 'create', '--company', companyId, '--name', series.title],
    ...['--delivery', series.delivery, '--format', series.format, '--shape', shape],
  );
  const key = await weir.cli<{ access_key: string }>(
    ...['key', 'create', source.source_id, '--scope', 'read_write'],
  );
  return { sourceId: source.source_id, accessKey: key.access_key };
}

async function keepRunning(): Promise<void> {
  say(`\nAPI      ${weir.url}`);
  say(`health   http://127.0.0.1:${weir.place.ops}/readyz`);
  say('Try      curl -H "Authorization: Bearer <a key from above>" \\');
  say(`           "${weir.url}/v1/samples?from=2015-01-01&to=2016-01-01"`);
  say('Ctrl-C ends it and removes its data.');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
}

function say(line: string): void {
  console.log(line);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
