import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Delivery } from '../../src/domain/nouns.ts';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { metricsOf } from '../support/metrics-of.ts';
import { weirCommand } from '../support/weir-command.ts';
import { type FaultPlace, makePlace } from './place.ts';
import { dayText, documentOf, sendUntilKept } from './sender.ts';

const timeout = 120_000;
let place: FaultPlace;
let weir: RunningWeir;

beforeEach(async () => {
  place = await makePlace();
  weir = place.weir();
  await weir.start();
}, timeout);
afterEach(() => place.remove());

async function parsedDelivery(): Promise<Delivery> {
  const rows = [{ period: dayText(0), page: '/', value: '1' }];
  await sendUntilKept(place, weir.url, documentOf('a-document', rows));
  const { deliveries } = place.catalog;
  const list = () => deliveries.list(place.document.sourceId, { limit: 1 });
  await expect.poll(async () => (await list())[0]!.status, { timeout: 20_000 }).toBe('parsed');
  return (await list())[0]!;
}

const pathOf = (delivery: Delivery) => join(place.dataDir, 'artifacts', delivery.place.object);

async function flipBit(delivery: Delivery): Promise<void> {
  const bytes = await readFile(pathOf(delivery));
  bytes[delivery.place.offset + 20]! ^= 4;
  await writeFile(pathOf(delivery), bytes);
}

/** As after a day: the next round of checks begins with the next start. */
function forgetChecks(): void {
  const db = new Sqlite(join(place.dataDir, 'catalog.db'));
  db.exec('update catalog_state set checked_up_to = 0, checks_began_at = 0');
  db.close();
}

test('a flipped bit in a stored artifact is found, named and never served as good', {
  timeout,
}, async () => {
  const delivery = await parsedDelivery();
  await weir.end();
  await flipBit(delivery);
  forgetChecks();
  weir = place.weir();
  await weir.start();
  const damaged = async () => (await metricsOf(weir)).get('weir_scrub_damaged_deliveries');
  await expect.poll(damaged, { timeout: 20_000 }).toBe(1);
  const { artifactId } = delivery;
  const lines = weir.log.split('\n').filter((line) => line.includes('is damaged'));
  expect(lines.map((line) => JSON.parse(line))).toMatchObject([
    { artifactId, object: delivery.place.object, damage: 'changed' },
  ]);

  expect(await weir.cli('delivery', 'show', artifactId)).toMatchObject({ damaged: 'changed' });
  const headers = { Authorization: `Bearer ${place.document.accessKey}` };
  const view = await fetch(`${weir.url}/v1/deliveries/${artifactId}`, { headers });
  expect(await view.json()).not.toHaveProperty('damaged');

  const out = join(place.dataDir, 'out.csv');
  for (const more of [[], ['--out', out]]) {
    const ran = await weirCommand(weir.env(), 'delivery', 'download', artifactId, ...more);
    expect(ran.code).toBe(1);
    expect(ran.stderr.split('\n')).toHaveLength(2);
    expect(ran.stderr).toContain(`the stored bytes of ${artifactId} are damaged`);
    expect(ran.stderr).toContain(delivery.sha256);
    const written = more.length === 0 ? ran.stdout : await readFile(out, 'utf8');
    const { offset, length } = delivery.place;
    const stored = (await readFile(pathOf(delivery))).subarray(offset, offset + length);
    expect(written).toBe(stored.toString());
  }
  await flipBit(delivery);
  const ran = await weirCommand(weir.env(), 'delivery', 'download', artifactId);
  expect([ran.code, ran.stderr]).toEqual([0, '']);
});

test("another catalog on a store ends the start with one line, and leaves the store's mark", {
  timeout,
}, async () => {
  await parsedDelivery();
  await weir.end();
  const mark = join(place.dataDir, 'artifacts', 'mark.json');
  const before = await readFile(mark, 'utf8');
  const other = await makePlace();
  try {
    const artifacts = pathToFileURL(join(place.dataDir, 'artifacts')).href;
    const stranger = other.weir({ WEIR_ARTIFACTS_URL: artifacts });
    await expect(stranger.start()).rejects.toThrow('weir serve ended');
    const said = stranger.log.split('\n').filter((line) => line.startsWith('weir: '));
    expect(said).toEqual([
      expect.stringMatching(/^weir: the artifact store belongs to another catalog: check WEIR_/),
    ]);
    const recovered = await weirCommand(stranger.env(), 'recover');
    expect(recovered.code).toBe(1);
    expect(recovered.stderr).toMatch(/^weir: the artifact store belongs to another catalog/);
  } finally {
    await other.remove();
  }
  expect(await readFile(mark, 'utf8')).toBe(before);
});
