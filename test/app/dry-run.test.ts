import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { dryRuns, type Tried, type TryDelivery } from '../../src/app/dry-run.ts';
import type { Delivery } from '../../src/domain/nouns.ts';

const mebibyte = 1024 * 1024;
const nothing: Tried = {
  ...{ outcome: 'tried', records: 0, parsed: 0, rejected: 0, newlyRejected: 0 },
  ...{ samples: { added: 0, changed: 0, gone: 0 }, refusal: null, rejections: [] },
};

function delivery(more: Partial<Delivery>): Delivery {
  const same = { receivedAt: 0, sandbox: false, status: 'parsed', delivery: 'document' } as const;
  return { ...same, artifactId: 'a', encoding: 'identity', bytes: 1, ...more } as Delivery;
}

function runsOf(deliveries: readonly Delivery[], tryDelivery: TryDelivery, clock = () => 0) {
  const list = async (_: string, { limit }: { limit: number }) => deliveries.slice(0, limit);
  const catalog = { deliveries: { list }, sourceSummaries: { exposed: async () => 3 } };
  const run = dryRuns({ catalog, tryDelivery, clock });
  return (many: number, format: 'csv' | 'xlsx' = 'csv') =>
    run({ sourceId: 's', fields: [], format, many });
}

describe('the bounds of a dry run', () => {
  const leftOut = ({ deliveries }: Awaited<ReturnType<ReturnType<typeof runsOf>>>) =>
    deliveries.map((one) => one.left_out);

  test('16 MiB of bodies: what is above is left out, smaller ones after it are not', async () => {
    const sizes = [8, 9, 8].map((n) => delivery({ bytes: n * mebibyte }));
    const run = runsOf(sizes, async () => nothing);
    expect(leftOut(await run(3))).toEqual([null, 'too_large', null]);
  });

  test('a packed body counts eight times', async () => {
    const packed = delivery({ bytes: 2 * mebibyte + 1, encoding: 'gzip' });
    expect(leftOut(await runsOf([packed], async () => nothing)(1))).toEqual(['too_large']);
    const plain = [delivery({ bytes: 2 * mebibyte + 1 })];
    expect(leftOut(await runsOf(plain, async () => nothing)(1))).toEqual([null]);
    expect(leftOut(await runsOf(plain, async () => nothing)(1, 'xlsx'))).toEqual(['too_large']);
  });

  test('20 seconds: then nothing more is begun', async () => {
    let now = 0;
    const late = async () => {
      now += 20_000;
      return nothing;
    };
    const run = runsOf([delivery({}), delivery({})], late, () => now);
    expect(leftOut(await run(2))).toEqual([null, 'no_time']);
  });

  test('one at a time, until what it began has ended', async () => {
    const ends: (() => void)[] = [];
    const slow: TryDelivery = () => new Promise((resolve) => ends.push(() => resolve(nothing)));
    const run = runsOf([delivery({})], slow);
    const first = run(1);
    await sleep(1);
    await expect(run(1)).rejects.toMatchObject({ code: 'conflict', status: 409 });
    // Only to be told what a save would withdraw, nobody waits.
    expect(await run(0)).toEqual({ withdraws: 3, deliveries: [] });
    ends.pop()!();
    expect(leftOut(await first)).toEqual([null]);
    await sleep(1);
    const next = run(1);
    await sleep(1);
    ends.pop()!();
    expect(leftOut(await next)).toEqual([null]);
  });

  test('a failure of a store fails the run, and frees its place', async () => {
    let away = true;
    const run = runsOf([delivery({})], async () => {
      if (away) throw new Error('away');
      return nothing;
    });
    await expect(run(1)).rejects.toThrow('away');
    away = false;
    await sleep(1);
    expect(leftOut(await run(1))).toEqual([null]);
  });
});
