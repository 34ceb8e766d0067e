import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isAlive } from '../support/alive.ts';
import { randomOf, seedOf, startLoad } from './load.ts';
import { expectNothingLost } from './oracle.ts';
import { enginePid, makePlace } from './place.ts';
import { dayText, sendOnce } from './sender.ts';

const kills = 15;
/** As long as a new engine waits for its predecessor: one that starts ends only once it has. */
const goneWithinMs = 10_000;

test('killing service and engine at random moments loses and doubles nothing', {
  timeout: 300_000,
}, async () => {
  const random = randomOf(seedOf('random kills'));
  const place = await makePlace();
  let weir = place.weir();
  try {
    await weir.start();
    const load = startLoad(place, weir.url, random);
    let serviceKills = 0;
    for (let n = 0; n < kills; n++) {
      await sleep(50 + random(600));
      const engine = enginePid(weir);
      const kind = n % 3;
      if (kind === 1) {
        tryKill(engine);
        continue;
      }
      // Kind 2: both at once. Alone or not, the engine must not outlive its service.
      if (kind === 2) tryKill(engine);
      await weir.end('SIGKILL');
      serviceKills += 1;
      // At once: the new engine waits for its predecessor's end.
      weir = place.weir();
      await Promise.all([expectGone(engine, goneWithinMs), weir.start()]);
    }
    await load.stop();
    expect(load.sent.length).toBeGreaterThan(kills);
    const orphans = await expectNothingLost(place, weir, load.sent);
    // Each of four senders had at most one object on its way when the service died.
    expect(orphans).toBeLessThanOrEqual(4 * serviceKills);
    console.log(`${kills} kills, ${load.sent.length} deliveries, ${orphans} orphans`);
  } finally {
    await place.remove();
  }
});

test('while the engine is away deliveries are taken, reads say when to come back', {
  timeout: 120_000,
}, async () => {
  const random = randomOf(seedOf('engine kills'));
  const place = await makePlace();
  const weir = place.weir();
  try {
    await weir.start();
    const load = startLoad(place, weir.url, random, 2);
    const reads: string[] = [];
    for (let n = 0; n < 4; n++) {
      await sleep(100 + random(200));
      const engine = enginePid(weir);
      tryKill(engine);
      for (const end = Date.now() + 20_000; enginePid(weir) === engine; await sleep(20)) {
        if (Date.now() > end) throw new Error('the engine did not come back');
        reads.push(await readOnce(place.push.accessKey, weir.url));
      }
    }
    await load.stop();
    expect(reads).toContain('503 internal 5');
    expect(reads.filter((read) => read !== '200' && read !== '503 internal 5')).toEqual([]);
    expect(await expectNothingLost(place, weir, load.sent)).toBe(0);
    // The service itself never went.
    expect(isAlive(weir.pid!)).toBe(true);
    const last = await sendOnce(place, weir.url, load.sent[0]!);
    expect(last?.headers.get('Idempotency-Replayed')).toBe('true');
  } finally {
    await place.remove();
  }
});

async function readOnce(accessKey: string, url: string): Promise<string> {
  const answer = await fetch(`${url}/v1/samples?from=${dayText(0)}&to=${dayText(730)}`, {
    headers: { Authorization: `Bearer ${accessKey}` },
  });
  const text = await answer.text();
  if (answer.status === 200) return '200';
  return `${answer.status} ${JSON.parse(text).code} ${answer.headers.get('Retry-After')}`;
}

/** It may be between two lives. */
function tryKill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

async function expectGone(pid: number, withinMs: number): Promise<void> {
  for (const end = Date.now() + withinMs; isAlive(pid); await sleep(20)) {
    if (Date.now() > end) throw new Error(`process ${pid} outlived its service`);
  }
}
