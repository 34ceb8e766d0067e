import { copyFile, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { openCatalog, sqliteUrl } from '../../../src/catalog/open.ts';
import { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { metricsOf } from '../../support/metrics-of.ts';
import { describeWith } from '../../support/need.ts';
import { seedOf } from '../../support/seed.ts';
import { type SmallDisk, smallDiskOrSkip } from '../../support/small-disk.ts';
import { type Load, randomOf, startLoad } from '../load.ts';
import { expectNothingLost } from '../oracle.ts';
import { enginePid, type FaultPlace, makePlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce, sendUntilKept } from '../sender.ts';
import { endLeases } from './leases.ts';

const timeout = 120_000;
const mib = 1 << 20;
/** How long the disk stays full under load. */
const fullMs = 1_500;

describeWith('a disk that is full', await smallDiskOrSkip(), (mount) => {
  test.concurrent('artifacts: 503 until there is room, and nothing is left of what was refused', {
    timeout,
  }, async () => {
    const place = await makePlace();
    const disk = await mount(join(place.dataDir, 'artifacts'), 24 * mib);
    await withDisk(place, disk, async () => {
      const weir = place.weir();
      const { load, before } = await startWithLoad(place, weir);
      await disk.leave(256 * 1024);
      const probes = await sendUntilFull(place, weir);
      await goesOnWhileFull(place, weir, before);
      for (const one of probes.slice(-2)) await expectAway(place, weir, one);

      await disk.makeRoom();
      await load.stop();
      for (const one of probes) await sendUntilKept(place, weir.url, one);
      // Each refused one was given up with all its files; the marks that failed too.
      expect(await expectNothingLost(place, weir, [...load.sent, ...probes])).toBe(0);
      // A mark may be on its way.
      const tmp = join(place.dataDir, 'artifacts', 'tmp');
      const isEmpty = async () => expect(await readdir(tmp)).toEqual([]);
      await vi.waitFor(isEmpty, { timeout: 5_000 });
      await expectSteady(weir);
    });
  });

  test.concurrent('catalog: 503 until there is room, reads go on', { timeout }, async () => {
    const made = await makePlace();
    const folder = join(made.dataDir, 'small');
    const disk = await mount(folder, 48 * mib);
    await withDisk(made, disk, async () => {
      const { place, url } = await withCatalogIn(made, folder);
      try {
        const weir = made.weir({ WEIR_CATALOG_URL: url });
        const { load, before } = await startWithLoad(place, weir);
        await disk.leave(mib);
        const probes = await sendUntilFull(place, weir);
        await goesOnWhileFull(place, weir, before);
        for (const one of probes.slice(-2)) await expectAway(place, weir, one);

        await disk.makeRoom();
        await load.stop();
        for (const one of probes) await sendUntilKept(place, weir.url, one);
        // Bytes are durable before the catalog is asked (DECISIONS 5); those of what it had no
        // room for went again.
        expect(await expectNothingLost(place, weir, [...load.sent, ...probes])).toBe(0);
        await expectSteady(weir);
      } finally {
        await place.catalog.close();
      }
    });
  });

  test.concurrent('ClickHouse: deliveries are taken and wait, and are parsed when there is room', {
    timeout,
  }, async () => {
    const place = await makePlace();
    const disk = await mount(join(place.dataDir, 'clickhouse'), 64 * mib);
    await withDisk(place, disk, async () => {
      const weir = place.weir();
      const { load, before } = await startWithLoad(place, weir);
      const engine = enginePid(weir);
      await disk.leave(0);
      const probe = pushOf('a probe', dayText(41), '1');
      expect((await sendOnce(place, weir.url, probe))?.status).toBe(202);
      await goesOnWhileFull(place, weir, before);
      // No sender is told of it: what is parsed later is accepted now.
      const late = pushOf('a late probe', dayText(41), '2');
      expect((await sendOnce(place, weir.url, late))?.status).toBe(202);
      const { deliveries } = await place.catalog.queue.backlog();
      expect(deliveries).toBeGreaterThan(0);

      await disk.makeRoom();
      await load.stop();
      expect(await expectNothingLost(place, weir, [...load.sent, probe, late])).toBe(0);
      expect(enginePid(weir)).toBe(engine);
      await expectSteady(weir);
    });
  });

  test.concurrent('one disk for all: a service that starts on it while it is full serves reads', {
    timeout,
  }, async () => {
    const made = await makePlace();
    const folder = join(made.dataDir, 'small');
    const disk = await mount(folder, 96 * mib);
    await withDisk(made, disk, async () => {
      const place = { ...(await withCatalogIn(made, folder)).place, dataDir: folder };
      let weir = new RunningWeir({ ...made.weir().place, dataDir: folder });
      try {
        const { load, before } = await startWithLoad(place, weir);
        await disk.leave(mib);
        const probes = await sendUntilFull(place, weir);
        await weir.end('SIGKILL');
        await disk.leave(0);
        weir = new RunningWeir(weir.place);
        await weir.start();
        await goesOnWhileFull(place, weir, before);
        for (const one of probes.slice(-2)) await expectAway(place, weir, one);

        await disk.makeRoom();
        endLeases(folder);
        await load.stop();
        for (const one of probes) await sendUntilKept(place, weir.url, one);
        const orphans = await expectNothingLost(place, weir, [...load.sent, ...probes]);
        // What was under way when the service died.
        expect(orphans).toBeLessThanOrEqual(6);
        await expectSteady(weir);
      } finally {
        await weir.end('SIGKILL');
        await place.catalog.close();
      }
    });
  });
});

async function withDisk(place: FaultPlace, disk: SmallDisk, body: () => Promise<void>) {
  try {
    await body();
  } finally {
    await disk.unmount();
    await place.remove();
  }
}

/** The same place with its catalog elsewhere. */
async function withCatalogIn(made: FaultPlace, folder: string) {
  await made.catalog.close();
  await copyFile(join(made.dataDir, 'catalog.db'), join(folder, 'catalog.db'));
  const url = sqliteUrl(join(folder, 'catalog.db'));
  const place: FaultPlace = { ...made, catalog: await openCatalog(url, { thread: false }) };
  return { place, url };
}

/** A running service under load, and one delivery of it that can be read. */
async function startWithLoad(
  place: FaultPlace,
  weir: RunningWeir,
): Promise<{ load: Load; before: Sent }> {
  await weir.start();
  const load = startLoad(place, weir.url, randomOf(seedOf('a full disk')));
  const before = load.sent[0]!;
  for (let waited = 0; before.receipts.length === 0; waited += 20) {
    if (waited > 20_000) throw new Error('the first delivery has no receipt');
    await sleep(20);
  }
  await sleep(500);
  return { load, before };
}

/**
 * Sends pushes and large documents until neither is taken any more.
 *
 * @returns all that it sent, taken or not
 */
async function sendUntilFull(place: FaultPlace, weir: RunningWeir): Promise<Sent[]> {
  const sent: Sent[] = [];
  let refusedInARow = 0;
  for (const end = Date.now() + 20_000; refusedInARow < 5; await sleep(20)) {
    if (Date.now() > end) throw new Error('the disk is never full');
    const key = `probe-${sent.length}`;
    const probes = [pushOf(key, dayText(41), `${sent.length}`), largeDocument(key)];
    sent.push(...probes);
    const answers = await Promise.all(probes.map((one) => sendOnce(place, weir.url, one)));
    const isRefused = answers.every((one) => one?.status === 503);
    refusedInARow = isRefused ? refusedInARow + 1 : 0;
  }
  return sent;
}

/** Replays, reads and health answer while the disk is full, and memory does not grow. */
async function goesOnWhileFull(place: FaultPlace, weir: RunningWeir, known: Sent): Promise<void> {
  const rss = await residentBytes(weir);
  for (const end = Date.now() + fullMs; Date.now() < end; await sleep(200)) {
    expect((await readSamples(place, weir)).status).toBe(200);
    expect((await sendOnce(place, weir.url, known))?.status).toBe(202);
    const live = await fetch(`http://127.0.0.1:${weir.place.ops}/livez`);
    expect(live.status).toBe(200);
  }
  expect((await residentBytes(weir)) - rss).toBeLessThan(64 * mib);
}

function readSamples(place: FaultPlace, weir: RunningWeir): Promise<Response> {
  return fetch(`${weir.url}/v1/samples?from=${dayText(0)}&to=${dayText(730)}`, {
    headers: { Authorization: `Bearer ${place.push.accessKey}` },
  });
}

async function expectAway(place: FaultPlace, weir: RunningWeir, sent: Sent): Promise<void> {
  const answer = await sendOnce(place, weir.url, sent);
  expect(answer?.status).toBe(503);
  expect(JSON.parse(answer!.text)).toMatchObject({ code: 'internal' });
  expect(Number(answer!.headers.get('Retry-After'))).toBeGreaterThan(0);
}

/** It is the process that was started, and so is its engine. */
async function expectSteady(weir: RunningWeir): Promise<void> {
  expect(weir.isRunning).toBe(true);
  expect((await metricsOf(weir)).get('weir_engine_restarts')).toBe(0);
}

/** About 300 KiB in one sample: a column that the shape does not declare. */
function largeDocument(key: string): Sent {
  const small = documentOf(key, [{ period: dayText(41), page: `/${key}`, value: '1' }]);
  const body = `day,page,visits,note\n${dayText(41)},/${key},1,${'x'.repeat(300_000)}\n`;
  return { ...small, body: Buffer.from(body) };
}

async function residentBytes(weir: RunningWeir): Promise<number> {
  const status = await readFile(`/proc/${weir.pid}/status`, 'utf8');
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)![1]) * 1024;
}
