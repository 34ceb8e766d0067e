import { expect, test, vi } from 'vitest';
import type { Job, Queue } from '../../src/catalog/catalog.ts';
import { ParseLoop } from '../../src/parse/loop.ts';
import { hourMs } from './clock.ts';

test('parsing goes on soon after a failure, also when the clock was set back', async () => {
  let now = 100 * hourMs;
  const job = {
    ...{ artifactId: 'a', token: 't', generation: 0, failures: 0, refusal: null, metrics: [] },
    ...{ personalNow: [], shape: { format: 'csv', fields: [] }, company: { timezone: 'UTC' } },
    delivery: { artifactId: 'a', sourceId: 's', sequence: 1, bytes: 1 },
  } as unknown as Job;
  const waiting = [job];
  let released = 0;
  const claims: number[] = [];
  const queue = {
    claim: async ({ now: at }) => {
      claims.push(at);
      return waiting.splice(0);
    },
    release: async () => {
      released += 1;
      return [];
    },
  } as Partial<Queue> as Queue;
  const away = { room: async () => {}, add: () => Promise.reject(new Error('away')) };
  const outcomes = [{ kind: 'unreadable' as const, reason: 'away' }];
  const pool = { threads: 1, run: async () => ({ outcomes }), close: async () => {} };
  const log = { warn: () => {}, error: () => {} };
  const reparses = { toForget: async () => [] } as unknown as ConstructorParameters<
    typeof ParseLoop
  >[0]['reparses'];
  const samples = { settle: async () => {}, forget: async () => {} };
  const parts = { queue, reparses, samples, pool, rows: away, log };
  const loop = new ParseLoop({ ...parts, clock: () => now });
  loop.start();
  try {
    await vi.waitFor(() => expect(released).toBe(1));
    now -= hourMs;
    claims.length = 0;
    await vi.waitFor(() => expect(claims).toContain(now), { timeout: 5_000 });
  } finally {
    await loop.stop();
  }
});
