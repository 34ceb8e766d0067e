import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { engineFiles } from '../../src/samples/engine/files.ts';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { isAlive } from '../support/alive.ts';
import { metricsOf } from '../support/metrics-of.ts';
import { expectNothingLost } from './oracle.ts';
import { enginePid, type FaultPlace, makePlace } from './place.ts';
import { dayText, pushOf, type Sent, sendOnce, sendUntilKept } from './sender.ts';
import { startPacedLoad } from './stores/paced-load.ts';

const timeout = 120_000;

/** How long the engine is away; `FAULT_SECONDS` makes it minutes. */
const awayMs = 1_000 * Number(process.env.FAULT_SECONDS ?? 3);
const perSecond = 80;

test('without the engine deliveries are taken and wait; with it again they are parsed', {
  timeout,
}, async () => {
  const place = await makePlace();
  try {
    const weir = place.weir();
    await weir.start();
    const hold = holdEngineAway(place, enginePid(weir));
    await sleep(300);
    const sent: Sent[] = [];
    for (let n = 0; n < 20; n++) sent.push(pushOf(`push ${n}`, dayText(n), `${n}.10`));
    for (const one of sent) expect((await sendOnce(place, weir.url, one))?.status).toBe(202);
    const read = await fetch(`${weir.url}/v1/samples`, {
      headers: { Authorization: `Bearer ${place.push.accessKey}` },
    });
    expect(read.status).toBe(503);
    expect(Number(read.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await read.json()).toMatchObject({ code: 'internal' });
    expect((await place.catalog.queue.backlog()).deliveries).toBe(20);
    const ready = await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`);
    expect([ready.status, await ready.json()]).toMatchObject([200, { status: 'degraded' }]);

    hold.release();
    expect(await expectNothingLost(place, weir, sent)).toBe(0);
  } finally {
    await place.remove();
  }
});

/** Kills the engine and takes its lock, so that no new one can come until `release`. */
function holdEngineAway(place: FaultPlace, engine: number): { release(): void } {
  process.kill(engine, 'SIGKILL');
  const db = new Database(engineFiles(place.dataDir).lock, { timeout: 2_000 });
  db.pragma('locking_mode = exclusive');
  db.exec('BEGIN EXCLUSIVE');
  return { release: () => db.close() };
}

test.each([
  {
    how: 'that is killed and cannot come back',
    goAway: (place: FaultPlace, engine: number) => holdEngineAway(place, engine),
  },
  {
    how: 'that stands still',
    goAway: (_: FaultPlace, engine: number) => {
      process.kill(engine, 'SIGSTOP');
      return { release: () => void process.kill(engine, 'SIGCONT') };
    },
  },
])(
  'under load, an engine $how: all is taken, the backlog told, and caught up with',
  {
    timeout: timeout + 2 * awayMs,
  },
  async ({ goAway }) => {
    const place = await makePlace();
    try {
      const weir = place.weir();
      await weir.start();
      const load = startPacedLoad(place, weir.url, perSecond);
      await sleep(1_000);
      const away = goAway(place, enginePid(weir));
      const looks: Look[] = [];
      for (const end = Date.now() + awayMs; Date.now() < end; await sleep(300)) {
        looks.push(await look(weir));
      }
      away.release();
      const backlog = (await place.catalog.queue.backlog()).deliveries;
      const released = performance.now();
      while ((await look(weir)).oldestSeconds > 2) {
        expect(performance.now() - released).toBeLessThan(awayMs / 2 + 10_000);
        await sleep(100);
      }
      const seconds = (performance.now() - released) / 1_000;
      await load.stop();
      expect(await expectNothingLost(place, weir, load.sent)).toBe(0);

      expect(Object.fromEntries(load.answers)).toEqual({ 202: load.sent.length });
      const waits = load.waits.toSorted((a, b) => a - b);
      const [p50, p99] = [0.5, 0.99].map((share) => waits[Math.floor(waits.length * share)]!);
      const parsedPerSecond = backlog / seconds + perSecond;
      console.log({ awayMs, backlog, seconds, perSecond, parsedPerSecond, p50, p99 });
      expect(p50).toBeLessThan(5_000);
      // A balancer goes on sending here, and whoever watches sees why and since when.
      expect(looks.slice(1).map(({ ready }) => ready)).toEqual(
        looks.slice(1).map(() => [200, 'degraded', 'away']),
      );
      for (const { tookMs } of looks) expect(tookMs).toBeLessThan(10_000);
      const { oldestSeconds, toldSeconds } = looks.at(-1)!;
      expect(oldestSeconds).toBeGreaterThan(awayMs / 1_000 - 3);
      expect(Math.abs(toldSeconds! - oldestSeconds)).toBeLessThan(2);
      expect(backlog).toBeGreaterThan((perSecond * awayMs) / 1_000 / 2);
    } finally {
      await place.remove();
    }
  },
);

interface Look {
  readonly ready: readonly unknown[];
  readonly tookMs: number;
  /** Of the backlog's oldest delivery: in `/metrics`, and in `/readyz`, which tells it in need. */
  readonly oldestSeconds: number;
  readonly toldSeconds: number | undefined;
}

async function look(weir: RunningWeir): Promise<Look> {
  const began = performance.now();
  const answer = await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`);
  const told = (await answer.json()) as {
    readonly status: string;
    readonly parts: { readonly samples: string };
    readonly backlog_oldest_seconds?: number;
  };
  return {
    ready: [answer.status, told.status, told.parts.samples],
    tookMs: performance.now() - began,
    oldestSeconds: (await metricsOf(weir)).get('weir_backlog_oldest_seconds')!,
    toldSeconds: told.backlog_oldest_seconds,
  };
}

test('a stop does not wait for an engine that hangs', { timeout }, async () => {
  const place = await makePlace();
  try {
    const weir = place.weir();
    await weir.start();
    const engine = enginePid(weir);
    process.kill(engine, 'SIGSTOP');
    const push = pushOf('a push', dayText(0), '1');
    await sendUntilKept(place, weir.url, push);
    await sleep(500);
    const ended = weir.died();
    const signalled = Date.now();
    process.kill(weir.pid!, 'SIGTERM');
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(Date.now() - signalled).toBeLessThan(15_000);
    expect(isAlive(engine)).toBe(false);

    const next = place.weir();
    await next.start();
    expect(await expectNothingLost(place, next, [push])).toBe(0);
  } finally {
    await place.remove();
  }
});
