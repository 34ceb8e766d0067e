import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { expectNothingLost } from './oracle.ts';
import { type FaultPlace, makePlace } from './place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce, sendUntilKept } from './sender.ts';

export interface RecoverAnswer {
  readonly behind: boolean;
  readonly recovered: number;
  readonly duplicates: number;
  readonly failed: number;
  readonly objects: readonly { readonly artifact_id: string; readonly outcome: string }[];
}

/** A restored place: the catalog is that of the backup, the store that of the disaster. */
export interface Restored {
  readonly place: FaultPlace;
  readonly before: readonly Sent[];
  /** Accepted after the backup, in this order. */
  readonly after: readonly Sent[];
  /** What was read of the push source at the end. */
  readonly read: string;
  weir(): RunningWeir;
  /** The catalog as it is now, seen from outside the service. */
  withCatalog<T>(use: (place: FaultPlace) => Promise<T>): Promise<T>;
}

/** Accepts, backs up, accepts more, stops, and puts the old catalog back. */
export async function restore(settings: Readonly<Record<string, string>>): Promise<Restored> {
  const place = await makePlace();
  const weir = place.weir(settings);
  await weir.start();
  const before = [
    ...[0, 1, 2].map((n) => pushOf(`before ${n}`, dayText(n), `${n}.5`)),
    documentOf('document-1', [{ period: dayText(0), page: '/', value: '1' }]),
  ];
  for (const one of before) await sendUntilKept(place, weir.url, one);
  const file = join(place.dataDir, 'backup.db');
  expect(await weir.cli('backup', file)).toMatchObject({ file, sequence: before.length });
  const after = [
    pushOf('a correction', dayText(1), '100.50'),
    pushOf('the correction corrected', dayText(1), '100.5'),
    documentOf('document-2', [
      { period: dayText(0), page: '/', value: '2' },
      { period: dayText(9), page: '/b', value: '3' },
    ]),
    ...[3, 4, 5].map((n) => pushOf(`after ${n}`, dayText(n), `${n}`)),
  ];
  for (const one of after) await sendUntilKept(place, weir.url, one);
  await expectNothingLost(place, weir, [...before, ...after], settings.WEIR_ARTIFACTS_URL);
  const read = await readAll(place, weir);
  await weir.end();
  await place.catalog.close();
  const path = join(place.dataDir, 'catalog.db');
  for (const end of ['', '-wal', '-shm']) await rm(`${path}${end}`, { force: true });
  await copyFile(file, path);
  return {
    ...{ place, before, after, read },
    weir: () => place.weir(settings),
    async withCatalog(use) {
      const catalog = await openCatalog(sqliteUrl(path), { thread: false });
      try {
        return await use({ ...place, catalog });
      } finally {
        await catalog.close();
      }
    },
  };
}

export async function readAll(place: FaultPlace, weir: RunningWeir): Promise<string> {
  const answer = await fetch(`${weir.url}/v1/samples?from=${dayText(0)}&to=${dayText(730)}`, {
    headers: { Authorization: `Bearer ${place.push.accessKey}` },
  });
  expect(answer.status).toBe(200);
  return answer.text();
}

/** New deliveries are refused, and say why to the operator; reads and replays go on. */
export async function expectRefusing(restored: Restored, weir: RunningWeir): Promise<void> {
  const { place, before, read } = restored;
  for (const one of [pushOf('new', dayText(9), '1'), { ...documentOf('new', []), rows: [] }]) {
    const refused = await sendOnce(place, weir.url, one);
    expect([refused?.status, JSON.parse(refused!.text)]).toMatchObject([503, { code: 'internal' }]);
    expect(Number(refused!.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(refused!.text).not.toMatch(/catalog|recover/);
  }
  const ready = await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`);
  expect([ready.status, await ready.json()]).toMatchObject([
    200,
    { status: 'degraded', parts: { accepting: expect.stringMatching(/`weir recover`/) } },
  ]);
  const lines = weir.log.split('\n').filter((line) => /"msg":"[^"]*weir recover/.test(line));
  expect(lines).toHaveLength(1);
  for (const one of before) expect((await sendOnce(place, weir.url, one))?.status).toBe(202);
  expect(await readAll(place, weir)).toBe(read);
}

/** Everything that ever had a receipt is there: bytes, samples and the same receipt again. */
export async function expectAllBack(restored: Restored, weir: RunningWeir): Promise<void> {
  const { place, before, after, read } = restored;
  for (const one of [...before, ...after]) {
    expect((await sendOnce(place, weir.url, one))?.status).toBe(202);
    expect(new Set(one.receipts).size, `receipts of ${one.key}`).toBe(1);
  }
  await restored.withCatalog(async ({ catalog }) => {
    await expect
      .poll(async () => (await catalog.queue.backlog()).deliveries, {
        timeout: 20_000,
      })
      .toBe(0);
    for (const kind of ['push', 'document'] as const) {
      const list = await catalog.deliveries.list(place[kind].sourceId, { limit: 100 });
      const sent = [...before, ...after].filter((one) => one.kind === kind);
      expect(list.toReversed().map((one) => one.artifactId)).toEqual(sent.map(artifactOf));
      expect(list.every((one) => one.status === 'parsed')).toBe(true);
    }
  });
  expect(await readAll(place, weir)).toBe(read);
}

export function artifactOf(sent: Sent): string {
  return (JSON.parse(sent.receipts[0]!) as { artifact_id: string }).artifact_id;
}

/** What is sent next supersedes what came back. */
export async function expectAccepting(restored: Restored, weir: RunningWeir): Promise<void> {
  const newest = pushOf('sent after the recovery', dayText(1), '7');
  await sendUntilKept(restored.place, weir.url, newest);
  const value = async () => {
    const read = JSON.parse(await readAll(restored.place, weir)) as {
      samples: { period_start: string; value: string }[];
    };
    return read.samples.find((one) => one.period_start === dayText(1))?.value;
  };
  await expect.poll(value, { timeout: 10_000 }).toBe('7');
}
