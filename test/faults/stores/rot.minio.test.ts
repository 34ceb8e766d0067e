import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { metricsOf } from '../../support/metrics-of.ts';
import { type Minio, minioOrSkip, startMinio } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, pushOf, type Sent, sendUntilKept } from '../sender.ts';
import { largeDocument } from './bodies.ts';

const timeout = 120_000;

describeWith("rot on a store's own disk", await minioOrSkip(), () => {
  let minio: Minio;
  let place: FaultPlace;
  let disk: string;
  beforeAll(async () => {
    place = await makePlace();
    disk = join(place.dataDir, 'store');
    minio = await startMinio({ dir: disk });
  });
  afterAll(async () => {
    await minio.stop();
    await place.remove();
  });

  test('is found and named, and the artifacts behind it are checked all the same', {
    timeout,
  }, async () => {
    let weir = place.weir({ WEIR_ARTIFACTS_URL: minio.url('rot') });
    await weir.start();
    const sent = [largeDocument('first'), pushOf('second', dayText(1), '1'), largeDocument('last')];
    for (const one of sent) await sendUntilKept(place, weir.url, one);
    const parsed = async () => (await place.catalog.queue.backlog()).deliveries;
    await expect.poll(parsed, { timeout: 20_000 }).toBe(0);
    await weir.end();

    const rotten = sent.slice(0, 2);
    for (const one of rotten) await rot(disk, await objectOf(one));
    forgetChecks();
    weir = place.weir({ WEIR_ARTIFACTS_URL: minio.url('rot') });
    await weir.start();
    const damaged = async () => (await metricsOf(weir)).get('weir_scrub_damaged_deliveries');
    await expect.poll(damaged, { timeout: 60_000 }).toBe(rotten.length);
    for (const one of rotten) {
      const { artifact_id } = JSON.parse(one.receipts[0]!);
      const named = weir.log.split('\n').filter((line) => line.includes('artifact is damaged'));
      expect(named.some((line) => line.includes(artifact_id))).toBe(true);
      expect(await weir.cli('delivery', 'show', artifact_id)).toMatchObject({
        damaged: 'unreadable',
      });
    }
    const checked = async () => (await metricsOf(weir)).get('weir_scrub_artifacts_total');
    await expect.poll(checked, { timeout: 20_000 }).toBe(sent.length);
  });

  async function objectOf(one: Sent): Promise<string> {
    const { artifact_id } = JSON.parse(one.receipts[0]!) as { artifact_id: string };
    const list = await place.catalog.deliveries.list(place[one.kind].sourceId, { limit: 10 });
    return list.find(({ artifactId }) => artifactId === artifact_id)!.place.object;
  }

  /** As after a day: the next round of checks begins with the next start. */
  function forgetChecks(): void {
    const db = new Sqlite(join(place.dataDir, 'catalog.db'));
    db.exec('update catalog_state set checked_up_to = 0, checks_began_at = 0');
    db.close();
  }
});

/** Flips a bit in what MinIO keeps of an object: its part, or, of a small one, its one file. */
async function rot(disk: string, object: string): Promise<void> {
  const folder = join(disk, 'rot', object);
  const files = await readdir(folder, { recursive: true });
  const name = files.find((one) => one.endsWith('part.1')) ?? 'xl.meta';
  const bytes = await readFile(join(folder, name));
  // Inline data lie behind the metadata, with 16 bytes or so after them.
  const at = name === 'xl.meta' ? bytes.length - 40 : bytes.length >> 1;
  bytes[at]! ^= 4;
  await writeFile(join(folder, name), bytes);
}
