import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { describeWith } from '../../support/need.ts';
import { seedOf } from '../../support/seed.ts';
import { type Injection, straceOrSkip, trace } from '../../support/strace.ts';
import { randomOf } from '../load.ts';
import { expectNothingLost } from '../oracle.ts';
import { enginePid, type FaultPlace, makePlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce, sendUntilKept } from '../sender.ts';
import { countGivenUp, storeThreads, traced } from './failed-calls.ts';
import { endLeases } from './leases.ts';

/**
 * Every call from the first to the 200th fails once with `TEST_ALL=1`, some minutes; otherwise the
 * seed draws where each spread begins.
 */
const all = process.env.TEST_ALL === '1';
const timeout = all ? 1_800_000 : 120_000;

type Fault = Pick<Injection, 'calls' | 'error' | 'step'>;

/** `step` is above what one attempt calls, so that whoever repeats gets through. */
const artifactFaults: readonly Fault[] = [
  { calls: ['pwrite64'], error: 'ENOSPC', step: 7 },
  { calls: ['pwrite64'], error: 'EIO', step: 7 },
  { calls: ['fsync', 'fdatasync'], error: 'EIO', step: 7 },
  { calls: ['fsync', 'fdatasync'], error: 'ENOSPC', step: 7 },
  { calls: ['rename'], error: 'EIO', step: 5 },
  { calls: ['rename'], error: 'ENOSPC', step: 5 },
];

/** A transaction writes some dozens of pages. */
const catalogFaults: readonly Fault[] = [
  { calls: ['pwrite64'], error: 'ENOSPC', step: 97 },
  { calls: ['pwrite64'], error: 'EIO', step: 97 },
  { calls: ['fsync', 'fdatasync'], error: 'EIO', step: 5 },
];

describeWith('a disk that fails now and then', await straceOrSkip(), () => {
  test.concurrent.each([
    ['artifacts', artifactFaults],
    ['catalog', catalogFaults],
  ] as const)(
    'whichever write, sync or rename of %s fails: 202 for what is there, else 503',
    {
      timeout,
    },
    async (store, faults) => {
      const random = randomOf(seedOf(`failing ${store}`));
      const place = await makePlace();
      try {
        const run = new Run(place, await startOnOneThread(place));
        const threads = await storeThreads(run.weir, place, () => run.sendSome());
        for (const fault of faults) {
          const firsts = all ? upTo(fault.step) : [1 + random(fault.step)];
          for (const first of firsts) await run.with(threads[store], { ...fault, first });
        }
        console.log(`failing ${store}: ${run.said()}`);
        // What was answered must be there for whoever comes after a crash, whatever failed before.
        await run.weir.end('SIGKILL');
        endLeases(place.dataDir);
        const next = place.weir();
        await next.start();
        const orphans = await expectNothingLost(place, next, run.sent);
        expect(orphans).toBeLessThanOrEqual(run.refused);
      } finally {
        await place.remove();
      }
    },
  );

  test.concurrent('whichever sync or rename of ClickHouse fails: all is parsed in the end', {
    timeout,
  }, async () => {
    const place = await makePlace();
    try {
      const weir = place.weir();
      await weir.start();
      const sent: Sent[] = [];
      const send = async (n: number) => {
        const one = pushOf(`push ${n}`, dayText(n % 40), `${n}.5`);
        sent.push(one);
        expect((await sendOnce(place, weir.url, one))?.status).toBe(202);
      };
      await send(0);
      let failed = 0;
      for (const calls of [['fsync', 'fdatasync'], ['rename']]) {
        const inject: Injection = { calls, error: 'EIO', first: 1, step: 6 };
        const file = join(place.dataDir, 'trace');
        const tracing = await trace(enginePid(weir), calls, file, { inject });
        for (let n = 1; n <= 10; n++) {
          await send(sent.length);
          await sleep(250);
        }
        failed += (await tracing.stop()).filter((call) => call.injected).length;
      }
      expect(failed).toBeGreaterThan(5);
      console.log(`failing ClickHouse: ${sent.length} deliveries, ${failed} failed calls`);
      expect(await expectNothingLost(place, weir, sent)).toBe(0);
    } finally {
      await place.remove();
    }
  });
});

/** One thread for all file operations: then the n-th call is the n-th of the store. */
async function startOnOneThread(place: FaultPlace): Promise<RunningWeir> {
  const weir = place.weir({ UV_THREADPOOL_SIZE: '1' });
  await weir.start();
  return weir;
}

function upTo(n: number): number[] {
  return Array.from({ length: n }, (_, i) => i + 1);
}

/** Sends on while calls fail, and counts. */
class Run {
  readonly place: FaultPlace;
  readonly weir: RunningWeir;
  readonly sent: Sent[] = [];
  refused = 0;
  #failed = 0;
  #givenUp = 0;

  constructor(place: FaultPlace, weir: RunningWeir) {
    this.place = place;
    this.weir = weir;
  }

  /** Sends until the thread has made enough calls of the kind that fails. */
  async with(thread: number, inject: Injection): Promise<void> {
    const file = join(this.place.dataDir, 'trace');
    const tracing = await trace(thread, traced, file, { thread: true, inject });
    const made = new RegExp(`^(${inject.calls.join('|')})\\(`, 'gm');
    const wanted = all ? 200 : 4 * inject.step;
    for (const end = Date.now() + 20_000; ; ) {
      await this.sendSome(2);
      const count = (await readFile(file, 'utf8')).match(made)?.length ?? 0;
      if (count >= wanted) break;
      if (Date.now() > end) throw new Error(`only ${count} calls of ${inject.calls}`);
    }
    const calls = await tracing.stop();
    const failed = calls.filter((call) => call.injected);
    expect(failed.length).toBeGreaterThanOrEqual(Math.floor(wanted / inject.step));
    this.#failed += failed.length;
    this.#givenUp += countGivenUp(calls);
    expect(this.weir.isRunning).toBe(true);
  }

  /** A large document, a small one and a push at once, so many times. */
  async sendSome(times = 3): Promise<void> {
    for (let n = 0; n < times; n++) {
      const key = `sent-${this.sent.length}`;
      const day = dayText(this.sent.length % 40);
      const three = [
        pushOf(`${key} push`, day, `${this.sent.length}.50`),
        documentOf(`${key}-small`, [{ period: day, page: `/${key}`, value: '1' }]),
        largeDocument(`${key}-large`, day),
      ];
      this.sent.push(...three);
      await Promise.all(three.map((one) => this.#sendOn(one)));
    }
  }

  said(): string {
    const { sent, refused } = this;
    return `${sent.length} sent, ${this.#failed} failed calls, ${refused} answers of 503, ${
      this.#givenUp
    } files given up`;
  }

  /** Only 202 and 503 may come, and the 503 says when to come back. */
  async #sendOn(one: Sent): Promise<void> {
    for (let attempt = 0; attempt < 100; attempt++) {
      const answer = await sendOnce(this.place, this.weir.url, one);
      if (answer?.status === 202) return;
      this.refused += 1;
      expect([answer?.status, answer?.text]).toEqual([503, expect.stringContaining('internal')]);
      expect(Number(answer!.headers.get('Retry-After'))).toBeGreaterThan(0);
    }
    await sendUntilKept(this.place, this.weir.url, one);
  }
}

/** 100 KiB in one sample: an object of its own. */
function largeDocument(key: string, period: string): Sent {
  const small = documentOf(key, [{ period, page: `/${key}`, value: '1' }]);
  const body = `day,page,visits,note\n${period},/${key},1,${'x'.repeat(100_000)}\n`;
  return { ...small, body: Buffer.from(body) };
}
