import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { type CrashPoint, crashPoints } from '../../src/std/crash-point.ts';
import { expectNothingLost } from './oracle.ts';
import { makePlace } from './place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce, sendUntilKept } from './sender.ts';

/** Small ones share an object of the store with others, a large one has its own. */
type Kind = 'document' | 'push' | 'large';

interface Case {
  readonly point: CrashPoint;
  /** Sent at once; the first of them to reach the point takes the service down. */
  readonly sends: readonly Kind[];
  /** How many senders each delivery has. */
  readonly senders?: number;
  /** Whether a 202 can have left before the point was reached. */
  readonly receipts: boolean;
  /** Objects that the crash leaves and nothing refers to: at least, at most. */
  readonly orphans: readonly [number, number];
}

const both = ['document', 'push'] as const;

/**
 * Where two are sent at once, the one that did not reach the point is anywhere on its way, so it
 * may leave an object too.
 */
const cases: readonly Case[] = [
  { point: 'upload_begun', sends: ['document'], receipts: false, orphans: [0, 0] },
  { point: 'upload_begun', sends: ['push'], receipts: false, orphans: [0, 0] },
  { point: 'upload_begun', sends: ['large'], receipts: false, orphans: [0, 0] },
  { point: 'bytes_sent', sends: ['document'], receipts: false, orphans: [0, 0] },
  { point: 'bytes_sent', sends: ['push'], receipts: false, orphans: [0, 0] },
  { point: 'bytes_sent', sends: ['large'], receipts: false, orphans: [0, 0] },
  { point: 'object_durable', sends: both, receipts: false, orphans: [1, 2] },
  { point: 'object_durable', sends: ['large'], receipts: false, orphans: [1, 1] },
  { point: 'race_lost', sends: ['large'], senders: 2, receipts: true, orphans: [1, 1] },
  { point: 'race_lost', sends: ['push'], senders: 12, receipts: true, orphans: [0, 11] },
  { point: 'receipt_durable', sends: both, receipts: false, orphans: [0, 1] },
  { point: 'claimed', sends: both, receipts: true, orphans: [0, 1] },
  { point: 'parsed', sends: both, receipts: true, orphans: [0, 1] },
  { point: 'inserted', sends: both, receipts: true, orphans: [0, 1] },
  { point: 'completed', sends: both, receipts: true, orphans: [0, 1] },
];

const lines = Array.from({ length: 4_000 }, (_, i) => ({
  ...{ period: dayText(i % 700), page: `/${Math.floor(i / 700)}`, value: `${i}.50` },
}));

const deliveries: Record<Kind, () => Sent> = {
  large: () => documentOf('a-large-document', lines),
  document: () =>
    documentOf('a-document', [
      { period: dayText(0), page: '/', value: '10.50' },
      { period: dayText(1), page: '/', value: '0.1' },
      { period: dayText(1), page: '/b', value: '-0.00' },
    ]),
  push: () => pushOf('a push', dayText(1), '12345678901234567890.10'),
};

test('every crash point is tried', () => {
  expect(new Set(cases.map((one) => one.point))).toEqual(new Set(crashPoints));
});

describe.concurrent('a service that dies at a step of a delivery loses and doubles nothing', () => {
  test.each(cases)('$point of $sends', { timeout: 120_000 }, async (given) => {
    const place = await makePlace();
    try {
      const sent = given.sends.map((kind) => deliveries[kind]());
      const dying = place.weir({ WEIR_CRASH_AT: given.point });
      await dying.start();
      const senders = sent.flatMap((one) => Array.from({ length: given.senders ?? 1 }, () => one));
      const answers = await Promise.all(senders.map((one) => sendOnce(place, dying.url, one)));
      await expectCrash(dying, answers);
      if (!given.receipts) expect(sent.flatMap((one) => one.receipts)).toEqual([]);

      const next = place.weir();
      await next.start();
      await Promise.all(sent.map((one) => sendUntilKept(place, next.url, one)));
      const orphans = await expectNothingLost(place, next, sent);
      const [least, most] = given.orphans;
      expect(orphans).toBeGreaterThanOrEqual(least);
      expect(orphans).toBeLessThanOrEqual(most);
    } finally {
      await place.remove();
    }
  });
});

/** The service died by its own hand, or does soon: what it answered is parsed after that. */
async function expectCrash(weir: RunningWeir, answers: unknown): Promise<void> {
  const alive = sleep(30_000, `alive after it answered ${JSON.stringify(answers)}`, { ref: false });
  expect(await Promise.race([weir.died(), alive])).toEqual({ code: null, signal: 'SIGKILL' });
}
