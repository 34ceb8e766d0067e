import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArtifactMeta } from '../../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../../src/artifacts/open.ts';
import { encodeSegment } from '../../../src/artifacts/segment.ts';
import type { Delivery } from '../../../src/domain/nouns.ts';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { metricsOf } from '../../support/metrics-of.ts';
import { type Minio, minioOrSkip, startMinio } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce, sendUntilKept } from '../sender.ts';
import { largeDocument } from './bodies.ts';
import { type LyingStore, readLies, startLyingStore, uploadLies } from './lying-store.ts';
import { residentBytes } from './resident-bytes.ts';

const timeout = 120_000;
const mib = 1024 * 1024;

/** Those that need half a minute each have a suite with shorter waits (`late-store`). */
const quickLies = uploadLies.filter((lie) => !/loses|never|late/.test(lie));

describeWith('a store that lies', await minioOrSkip(), () => {
  let minio: Minio;
  let store: LyingStore;
  let place: FaultPlace;
  let weir: RunningWeir;
  let before = 0;
  let refused = 0;
  let made = 0;
  const sent: Sent[] = [];

  beforeAll(async () => {
    minio = await startMinio();
    store = await startLyingStore(minio.port, 0);
    place = await makePlace();
    const url = minio.url('lies').replace(`:${minio.port}/`, `:${store.port}/`);
    weir = place.weir({ WEIR_ARTIFACTS_URL: url });
    await weir.start();
    for (const one of ofEachSize()) await sendUntilKept(place, weir.url, one);
    before = residentBytes(weir);
  }, timeout);
  afterAll(async () => {
    await place.remove();
    await store.stop();
    await minio.stop();
  });

  /** A push and a small document, which share segments, and a streamed one. */
  function ofEachSize(): Sent[] {
    made += 1;
    const value = `${made}.5`;
    const three = [
      pushOf(`push ${made}`, dayText(made), value),
      documentOf(`small-${made}`, [{ period: dayText(made), page: '/', value }]),
      largeDocument(`large-${made}`),
    ];
    sent.push(...three);
    return three;
  }

  async function deliveryOf(one: Sent): Promise<Delivery> {
    const { artifact_id } = JSON.parse(one.receipts[0]!) as { artifact_id: string };
    const { deliveries } = place.catalog;
    const list = await deliveries.list(place[one.kind].sourceId, { limit: 1_000 });
    return list.find(({ artifactId }) => artifactId === artifact_id)!;
  }

  const statusOf = async (one: Sent) => (await deliveryOf(one)).status;

  test.each(quickLies)(
    'and %s gets no receipt out of weir; the truth gets one',
    {
      timeout,
    },
    async (lie) => {
      const three = ofEachSize();
      store.lie(lie);
      for (const one of three) {
        const answer = await sendOnce(place, weir.url, one);
        expect(answer?.status, one.key).toBe(503);
        expect(Number(answer!.headers.get('Retry-After'))).toBeGreaterThan(0);
        refused += 1;
      }
      expect(store.told()).toBeGreaterThanOrEqual(three.length);
      store.lie(null);
      for (const one of three) await sendUntilKept(place, weir.url, one);
    },
  );

  test.each(readLies)(
    'and %s is not believed: nothing is parsed until it says the truth',
    {
      timeout,
    },
    async (lie) => {
      const three = ofEachSize();
      store.lie(lie);
      for (const one of three) await sendUntilKept(place, weir.url, one);
      await expect.poll(() => store.told(), { timeout: 10_000 }).toBeGreaterThanOrEqual(4);
      for (const one of three) {
        const { artifactId, status } = await deliveryOf(one);
        expect(['queued', 'parsing']).toContain(status);
        await expect.poll(() => namedAsDamaged(artifactId), { timeout: 10_000 }).toBe(true);
      }
      store.lie(null);
      for (const one of three) {
        await expect.poll(() => statusOf(one), { timeout: 20_000 }).toBe('parsed');
      }
    },
  );

  /** By the parse loop, in the log. */
  function namedAsDamaged(artifactId: string): boolean {
    const lines = weir.log.split('\n').filter((line) => line.includes('of a delivery are damaged'));
    return lines.some((line) => line.includes(artifactId));
  }

  test('and keeps nothing, but says that it did, is found out at once', {
    timeout,
  }, async () => {
    store.lie('loses it and says 200');
    const lost = ofEachSize();
    // Nobody could tell without reading it back: these receipts are what the next checks are for.
    for (const one of lost) await sendUntilKept(place, weir.url, one);
    store.lie(null);
    for (const one of lost) {
      const { artifactId } = await deliveryOf(one);
      await expect.poll(() => namedAsDamaged(artifactId), { timeout: 5_000 }).toBe(true);
    }
    const gauge = async () => (await metricsOf(weir)).get('weir_scrub_damaged_deliveries');
    await expect.poll(gauge, { timeout: 30_000 }).toBeGreaterThanOrEqual(lost.length);
    for (const one of lost) {
      const { artifactId, status } = await deliveryOf(one);
      expect(['queued', 'parsing']).toContain(status);
      expect(await weir.cli('delivery', 'show', artifactId)).toMatchObject({ damaged: 'missing' });
    }
    for (const one of lost) await putBack(one);
    for (const one of lost) {
      await expect.poll(() => statusOf(one), { timeout: 60_000 }).toBe('parsed');
    }
  });

  /** As who has the bytes of a lost object would: under its name, past the proxy. */
  async function putBack(one: Sent): Promise<void> {
    const delivery = await deliveryOf(one);
    const { artifactId, place: at, sourceId, sandbox, mediaType, encoding, receivedAt } = delivery;
    const meta: ArtifactMeta = {
      ...{ artifactId, sourceId, sandbox, idempotencyKey: one.key, mediaType, encoding },
      ...{ receivedAt, shapeVersion: delivery.shapeVersion, delivery: delivery.delivery },
    };
    const sha256 = sha256Of(one.body);
    const artifacts = openArtifacts(minio.url('lies'));
    try {
      const isSegment = at.object.endsWith('.segment');
      const bytes = isSegment
        ? encodeSegment(at.object, [{ meta, body: one.body, sha256 }]).bytes
        : one.body;
      const upload = artifacts.begin(at.object, bytes.length, isSegment ? null : meta);
      await upload.write(bytes);
      await upload.commit(sha256Of(bytes));
    } finally {
      await artifacts.close();
    }
  }

  test('has made weir lose nothing, keep nothing twice, and hold no memory', {
    timeout,
  }, async () => {
    // Read past the proxy: what is judged is what lies in the store.
    const orphans = await expectNothingLost(place, weir, sent, minio.url('lies'));
    expect(orphans).toBeGreaterThan(0);
    expect(orphans).toBeLessThanOrEqual(refused);
    const grown = residentBytes(weir) - before;
    expect(grown).toBeLessThan(96 * mib);
    console.log(`${sent.length} deliveries, ${refused} refused, ${orphans} orphans, ${grown} B`);
  });
});

function sha256Of(bytes: Uint8Array): Buffer {
  return createHash('sha256').update(bytes).digest();
}
