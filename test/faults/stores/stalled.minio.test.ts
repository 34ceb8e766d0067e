import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { type Minio, minioOrSkip, startMinio } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { head, RawSocket } from '../../support/raw-socket.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, pushOf, type Sent, sendOnce, sendUntilKept } from '../sender.ts';
import { largeDocument } from './bodies.ts';
import { startLyingStore } from './lying-store.ts';

const timeout = 120_000;
const kib = 1024;

describeWith('others do not wait', await minioOrSkip(), () => {
  let minio: Minio;
  let place: FaultPlace;
  let weir: RunningWeir;
  let sent: Sent[];

  beforeAll(async () => {
    minio = await startMinio();
  });
  afterAll(() => minio.stop());
  beforeEach(async () => {
    place = await makePlace();
    sent = [];
  });
  afterEach(() => place.remove());

  /** Sends pushes and documents one after another. @returns the longest wait of each, in ms */
  async function longestWaits(what: string): Promise<{ push: number; document: number }> {
    const longest = { push: 0, document: 0 };
    for (let n = 0; n < 6; n++) {
      for (const one of [
        pushOf(`${what}-push-${n}`, dayText(sent.length), '1'),
        largeDocument(`${what}-${n}`, 300 * kib),
      ]) {
        sent.push(one);
        const began = performance.now();
        await sendUntilKept(place, weir.url, one);
        longest[one.kind] = Math.max(longest[one.kind], performance.now() - began);
      }
    }
    return longest;
  }

  test('for a hundred senders who stall in the middle of a document', { timeout }, async () => {
    weir = place.weir({ WEIR_ARTIFACTS_URL: minio.url('stalled') });
    await weir.start();
    const stalled: RawSocket[] = [];
    for (let n = 0; n < 100; n++) stalled.push(await stalledSender(n));
    // Just enough not to be cut off as silent.
    const trickle = setInterval(() => {
      for (const one of stalled) one.write(Buffer.alloc(8 * kib, 'x'));
    }, 2_000);
    await sleep(500);
    const waits = await longestWaits('beside-stalled').finally(() => clearInterval(trickle));
    console.log('beside 100 stalled senders', waits);
    expect(waits.push).toBeLessThan(2_000);
    expect(waits.document).toBeLessThan(5_000);
    // Nobody was cut off for it: each could still go on.
    expect(stalled.filter((one) => one.closed || one.received !== '')).toEqual([]);
    for (const one of stalled) one.destroy();
    expect(await expectNothingLost(place, weir, sent, minio.url('stalled'))).toBe(0);
  });

  /** It has sent so much that its upload has begun, and says no more. */
  async function stalledSender(n: number): Promise<RawSocket> {
    const socket = await RawSocket.open(weir.place.api);
    socket.write(
      head('POST /v1/ingest', {
        Authorization: `Bearer ${place.document.accessKey}`,
        'Content-Type': 'application/octet-stream',
        'Idempotency-Key': `stalled-${n}`,
        // So small that the budget of bytes is not what others wait for.
        'Content-Length': String(150 * kib),
      }),
    );
    socket.write(Buffer.alloc(40 * kib, 'x'));
    return socket;
  }

  test('for one connection to the store that hangs', { timeout }, async () => {
    const store = await startLyingStore(minio.port, 0);
    const url = minio.url('hanging').replace(`:${minio.port}/`, `:${store.port}/`);
    weir = place.weir({ WEIR_ARTIFACTS_URL: url });
    await weir.start();
    store.lie('keeps it and never answers', 1);
    const hanging = pushOf('hanging', dayText(700), '1');
    const stop = new AbortController();
    const answer = sendOnce(place, weir.url, hanging, stop.signal);
    await expect.poll(() => store.told()).toBe(1);
    const waits = await longestWaits('beside-hanging');
    console.log('beside one hanging connection', waits);
    // It is given up after thirty seconds.
    expect(waits.push).toBeLessThan(5_000);
    expect(waits.document).toBeLessThan(5_000);
    stop.abort();
    expect(await answer).toBe(null);
    sent.push(hanging);
    await sendUntilKept(place, weir.url, hanging);
    // The one that hangs is an object that nobody refers to.
    expect(await expectNothingLost(place, weir, sent, minio.url('hanging'))).toBe(1);
    await store.stop();
  });
});
