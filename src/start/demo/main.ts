import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeliveryView } from '../../serve/deliveries.ts';
import { stopSignal } from '../stop-signal.ts';
import { type SourceAccess, SourceClient } from './client.ts';
import { compare } from './compare.ts';
import { freePorts, isFree, RunningWeir } from './running-weir.ts';
import {
  carbonDioxide,
  employment,
  pushedMonths,
  type Series,
  type SeriesDelivery,
  unemployment,
  weather,
} from './series.ts';
import { type DemoCompany, setUp } from './set-up.ts';
import { inviteVisitor } from './visitor.ts';

/**
 * `npm run demo`: weir from nothing to samples, with real series. Without `--once` it keeps
 * running. Exit code 1 when any number read differs from the one in its data file.
 */
const once = process.argv.includes('--once');
const dataDir = mkdtempSync(join(tmpdir(), 'weir-demo-'));
const weir = new RunningWeir({ dataDir, ...(await ports()) });

const stopped = stopSignal();
try {
  const differences = await Promise.race([demonstrate(), stopped]);
  if (!once && differences === 0) await keepRunning();
  process.exitCode = differences === 0 ? 0 : 1;
} finally {
  await Promise.all([weir.endCommands(), weir.end()]);
  rmSync(dataDir, { recursive: true, force: true });
}
// Nothing may hold the process: a demonstration that was stopped still asks a service that is gone.
process.exit();

/** @returns how many numbers differ from their data files */
async function demonstrate(): Promise<number> {
  const started = performance.now();
  await weir.start();
  say(`weir serves at ${weir.url} (ready in ${seconds(started)}), its data is in ${dataDir}`);
  const all = [employment(), weather(), unemployment(), pushedMonths(), carbonDioxide()];
  const company = await setUp(weir, all);
  const sent: SentSeries[] = [];
  for (const [i, series] of all.entries()) sent.push(await send(series, company.accesses[i]!));
  say(`${all.length} sources declared, everything sent and durable (${seconds(started)})`);
  let differences = 0;
  for (const one of sent) differences += await show(one);
  say(
    differences === 0
      ? `\nEvery number read is the one in its data file. (${seconds(started)})`
      : `\n${differences} numbers differ from their data files.`,
  );
  if (!once && differences === 0) await showApp(company);
  return differences;
}

async function showApp(company: DemoCompany): Promise<void> {
  const { invitation, sandboxKey } = await inviteVisitor(weir, company);
  say(`\nApp      ${invitation}`);
  say('         Open it on this machine; it makes you a passkey, once, within 24 hours.');
  say(`Sandbox  ${sandboxKey}`);
  say("         The key for what you send from the app's API reference.");
}

/** The usual ports where they are free, so that the addresses are those of the README. */
async function ports(): Promise<{ api: number; app: number; ops: number }> {
  const usual = { api: 8080, app: 8081, ops: 8082 };
  const free = await Promise.all(Object.values(usual).map(isFree));
  if (!once && free.every(Boolean)) return usual;
  const [api, app, ops] = await freePorts(3);
  return { api: api!, app: app!, ops: ops! };
}

interface SentSeries {
  readonly series: Series;
  readonly access: SourceAccess;
  readonly client: SourceClient;
  /** Of its deliveries, in their order. */
  readonly artifactIds: readonly string[];
}

/** One delivery after the other: the order in which they are accepted decides corrections. */
async function send(series: Series, access: SourceAccess): Promise<SentSeries> {
  const client = new SourceClient(access);
  const artifactIds: string[] = [];
  for (const delivery of series.deliveries) artifactIds.push(await client.send(delivery));
  return { series, access, client, artifactIds };
}

/** Waits for one series, reads and compares it. @returns how many numbers differ */
async function show({ series, access, client, artifactIds }: SentSeries): Promise<number> {
  say(`\n${series.title} (${series.delivery})`);
  for (const [i, delivery] of series.deliveries.entries()) {
    say(`  ${deliveryLine(delivery, await client.settled(artifactIds[i]!))}`);
  }
  const result = await compare(client, series);
  for (const line of result.lines) say(`  ${line}`);
  if (!once) say(`  source ${access.sourceId}, key ${access.accessKey}`);
  return result.differences;
}

function deliveryLine(delivery: SeriesDelivery, view: DeliveryView): string {
  const { records, samples, blank, rejected } = view.counts;
  const what = delivery.corrects ? 'correction' : 'accepted  ';
  const counts = `${records} records, ${samples} samples, ${blank} blank, ${rejected} rejected`;
  return `${what} ${delivery.key}: ${view.bytes} bytes, ${counts}`;
}

async function keepRunning(): Promise<void> {
  say(`API      ${weir.url}`);
  say(`health   http://127.0.0.1:${weir.place.ops}/readyz`);
  say('Try      curl -H "Authorization: Bearer <a key from above>" \\');
  say(`           "${weir.url}/v1/samples?from=2015-01-01&to=2016-01-01"`);
  say('Ctrl-C ends it and removes its data.');
  await stopped;
}

function say(line: string): void {
  console.log(line);
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1_000).toFixed(1)} s`;
}
