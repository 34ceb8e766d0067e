import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { limits } from '../../src/domain/limits.ts';
import { claimFor, seedSource, store, tempCatalog } from '../catalog/support.ts';
import { dayMs, minuteMs } from './clock.ts';

/** What the catalog was told by a clock that was wrong, and is asked by one that is right. */

const now = Date.parse('2026-11-20T12:00:00Z');
const in2038 = Date.parse('2038-02-01T00:00:00Z');
const { parseLeaseMs: leaseMs } = limits;

let place: Awaited<ReturnType<typeof tempCatalog>>;
let catalog: Catalog;
let sourceId: string;

beforeEach(async () => {
  place = await tempCatalog();
  catalog = await openCatalog(place.url, { thread: false });
  ({ sourceId } = await seedSource(catalog));
});
afterEach(async () => {
  await catalog.close();
  await place.remove();
});

const claimAt = (at: number) => catalog.queue.claim({ limit: 9, bytesMax: 1e9, leaseMs, now: at });

describe('a clock that was ahead and is set back', () => {
  test.each([
    ['a quarter of an hour', now + 15 * minuteMs],
    ['to 2038', in2038],
  ])('%s: what a dead process was parsing then is parsed at once', async (_, then) => {
    await store(catalog, claimFor(sourceId));
    expect(await claimAt(then)).toHaveLength(1);
    expect(await claimAt(now)).toHaveLength(1);
  });

  test('what was put off then is parsed at once', async () => {
    await store(catalog, claimFor(sourceId));
    const jobs = await claimAt(in2038);
    await catalog.queue.release(jobs, in2038 + minuteMs);
    expect(await claimAt(now)).toHaveLength(1);
  });

  test('the turn that a dead process had then is over', async () => {
    const want = { sourceId, leaseMs };
    const left = await catalog.reparses.takeTurn({ ...want, now: in2038 });
    const next = await catalog.reparses.takeTurn({ ...want, now });
    expect(next).not.toBeNull();
    expect(next!.number).toBeGreaterThan(left!.number);
    expect(await catalog.reparses.extendTurn(left!.token, now + leaseMs)).toBe(false);
  });

  test('stored bytes are checked again, in rounds as before', async () => {
    await store(catalog, claimFor(sourceId));
    const want = { limit: 9, bytesMax: 1e9, roundMs: dayMs };
    const next = (at: number) => catalog.upkeep.nextToCheck({ ...want, now: at });
    expect(await next(in2038)).toHaveLength(1);
    expect(await next(in2038 + 1)).toHaveLength(0);
    expect(await next(now)).toHaveLength(1);
    expect(await next(now + dayMs - 1)).toHaveLength(0);
    expect(await next(now + dayMs)).toHaveLength(1);
  });
});

test('a lease of a process whose clock is a minute ahead stands', async () => {
  await store(catalog, claimFor(sourceId));
  expect(await claimAt(now + minuteMs)).toHaveLength(1);
  expect(await claimAt(now)).toHaveLength(0);
  expect(await claimAt(now + minuteMs + leaseMs)).toHaveLength(1);
});

test('sequences, turns and versions of samples rise, whatever the clock does', async () => {
  const hash = Buffer.alloc(32, 1);
  const scope = 'read' as const;
  const key = { keyId: claimFor(sourceId).artifactId, sourceId, hash, scope, sandbox: false };
  await catalog.directory.createKey({ ...key, expiresAt: in2038 + dayMs }, now);
  const times = [now, in2038, now - 15 * minuteMs, now + 15 * minuteMs, 0, now];
  const numbers: number[][] = [];
  for (const at of times) {
    const sequence = await store(catalog, claimFor(sourceId, { receivedAt: at }));
    const turn = await catalog.reparses.takeTurn({ sourceId, leaseMs, now: at });
    await catalog.reparses.endTurn(turn!.token);
    const holder = await catalog.lookup.key(hash);
    numbers.push([sequence, turn!.number, holder!.samples.version]);
  }
  for (const [i, later] of numbers.slice(1).entries()) {
    for (const [j, number] of later.entries()) expect(number).toBeGreaterThan(numbers[i]![j]!);
  }
});
