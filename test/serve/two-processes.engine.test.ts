import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { connect } from '../../src/samples/client.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { type ReadingApi, startReadingApi } from '../support/reading-api.ts';
import { accepted, type Sample } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { weirCommand } from '../support/weir-command.ts';

/**
 * Two processes on one catalog, each of which keeps the answers that it gave: a service that
 * accepts and parses, and this one, which only reads. From the moment in which the service reports
 * a delivery, or a command ends that changes samples, both show the same.
 */

const withNote = [
  { name: 'day', role: 'period' },
  { name: 'amount', role: 'value', metric: 'amount' },
  { name: 'note', role: 'label', label: 'device' },
  { name: 'at', role: 'label', label: 'place' },
  { name: 'seen', role: 'value', metric: 'visits' },
] as const;
const body = (n: number) => `day,amount,note,at,seen\n2026-03-01,${n},desk,home,${n}\n`;
const query = 'from=2026-01-01&to=2026-12-31';

let weir: TestWeir;
let store: SampleStore;
let here: ReadingApi;
beforeAll(async () => {
  weir = await TestWeir.start();
  store = openSamples(openEngineAddress(weir.running.place.dataDir));
  here = await startReadingApi(weir.catalog, store, Date.now);
});
afterAll(async () => {
  await here?.stop();
  await store?.close();
  await weir?.stop();
});

const readThere = async ({ sender }: TestSource) =>
  JSON.stringify((await sender.samples(query)).samples);
const readHere = ({ sourceId }: TestSource) => here.read(sourceId, query);
const both = async (source: TestSource) => [await readThere(source), await readHere(source)];

test('reads begun after a report show it, on both, while many read all the time', async () => {
  const source = await weir.source();
  /** By day: the latest value that was reported. */
  const reported = new Map<string, number>();
  let stopped = false;
  let reads = 0;
  const reader = async (read: (source: TestSource) => Promise<string>) => {
    while (!stopped) {
      const least = [...reported];
      const samples: Sample[] = JSON.parse(await read(source));
      const shown = new Map(samples.map((one) => [one.period_start, Number(one.value)]));
      for (const [day, value] of least) expect(shown.get(day) ?? 0).toBeGreaterThanOrEqual(value);
      reads += 1;
      await sleep(1);
    }
  };
  const readers = [readThere, readHere, readThere, readHere].map(reader);
  for (let n = 1; n <= 30; n++) {
    const day = `2026-02-0${1 + (n % 3)}`;
    const receipt = await source.sender.push({ day, amount: String(n) });
    await source.sender.settled(receipt);
    reported.set(day, n);
    const [there, here] = await both(source);
    expect(here).toBe(there);
  }
  stopped = true;
  await Promise.all(readers);
  expect(reads).toBeGreaterThan(100);
  expect(here.queries).toBeLessThan(reads / 2);
}, 60_000);

test('what is parsed again, withdrawn and rebuilt shows when the command ends', async () => {
  const source = await weir.source({ delivery: 'document', fields: withNote });
  const artifacts: string[] = [];
  for (const n of [1, 2]) {
    const receipt = await source.sender.document(body(n));
    await source.sender.settled(receipt);
    artifacts.push(accepted(receipt).artifact_id);
  }
  const run = (...args: string[]) => weirCommand(weir.running.env(), ...args);
  const values = async () => {
    const answers = await both(source);
    expect(answers[1]).toBe(answers[0]);
    return (JSON.parse(answers[0]!) as Sample[]).map((one) => `${one.metric} ${one.value}`);
  };
  expect(await values()).toEqual(['amount 2', 'visits 2']);

  // Without its amount, that of the delivery before returns.
  await source.save({ fields: withNote.filter(({ name }) => name !== 'amount') });
  const reparse = await run('reparse', artifacts[1]!, '--shape-version', '2', '--json');
  expect(reparse.stderr).toBe('');
  expect(await values()).toEqual(['amount 1', 'visits 2']);

  // Somebody damages the store: what was read is given again, what was not shows the damage.
  const address = openEngineAddress(weir.running.place.dataDir);
  const client = connect(address, address.database);
  await client.command({ query: `ALTER TABLE samples DELETE WHERE metric = 'amount'` });
  await client.close();
  const unread = `${query}&sandbox=false`;
  expect(JSON.parse(await here.read(source.sourceId, unread))).toHaveLength(1);
  expect((await run('rebuild', '--json')).code).toBe(0);
  expect(await values()).toEqual(['amount 1', 'visits 2']);
  expect(JSON.parse(await here.read(source.sourceId, unread))).toHaveLength(2);

  const personal = { name: 'note', personal: true };
  await source.save({ fields: [withNote[0], withNote[1], personal] });
  while ((await weir.catalog.deliveries.reparsing(source.sourceId, 2 ** 32)) > 0) await sleep(20);
  expect(await values()).toEqual([]);
}, 60_000);
