import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { isAlive } from '../support/alive.ts';
import { seedOf } from '../support/seed.ts';
import { EngineVictim } from './campaign/victims.ts';
import { randomOf, startLoad } from './load.ts';
import { expectNothingLost } from './oracle.ts';
import { enginePid, makePlace } from './place.ts';
import { dayText, pushOf, sendOnce, sendUntilKept } from './sender.ts';

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

test('an engine that is killed while the service starts is started again', {
  timeout: 120_000,
}, async () => {
  const place = await makePlace();
  const weir = place.weir();
  try {
    const started = weir.start();
    started.catch(() => {}); // Told where it is awaited.
    const engine = new EngineVictim(weir);
    for (const end = Date.now() + 30_000; engine.kills === 0; await sleep(1)) {
      if (Date.now() > end) throw new Error('there was no engine to be killed');
      await engine.kill();
    }
    await started;
    const push = pushOf('a push', dayText(0), '1');
    await sendUntilKept(place, weir.url, push);
    expect(await expectNothingLost(place, weir, [push])).toBe(0);
    expect(weir.log.match(/the engine did not start/g)).toHaveLength(1);
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
