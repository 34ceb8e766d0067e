import { setTimeout as sleep } from 'node:timers/promises';
import Database from 'better-sqlite3';
import { expect, test } from 'vitest';
import { engineFiles } from '../../src/samples/engine/files.ts';
import { isAlive } from '../support/alive.ts';
import { expectNothingLost } from './oracle.ts';
import { enginePid, type FaultPlace, makePlace } from './place.ts';
import { dayText, pushOf, type Sent, sendOnce, sendUntilKept } from './sender.ts';

const timeout = 120_000;

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
