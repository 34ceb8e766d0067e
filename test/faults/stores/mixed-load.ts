import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce } from '../sender.ts';
import { largeDocument } from './bodies.ts';

const kib = 1024;

/** Senders of all sizes, each of whom repeats a delivery until it has its receipt. */
export interface MixedLoad {
  readonly sent: Sent[];
  /** How often each status came; 0: the connection broke, or nothing came for half a minute. */
  readonly answers: Map<number, number>;
  /** From the first attempt to the receipt, in milliseconds, in the order of the receipts. */
  readonly waits: number[];
  /** Resolves when so many more have their receipts. */
  receipts(more: number): Promise<void>;
  /** Sends nothing new; resolves when all that was begun has its receipt. */
  stop(): Promise<void>;
}

/** @param pauseMs between two deliveries of a sender */
export function startMixedLoad(
  place: FaultPlace,
  url: string,
  random: (n: number) => number,
  { senders = 6, pauseMs = 20 } = {},
): MixedLoad {
  const load = { sent: [] as Sent[], answers: new Map<number, number>(), waits: [] as number[] };
  let stopped = false;
  async function run(sender: number): Promise<void> {
    for (let n = 0; !stopped; n++) {
      const one = deliveryOf(sender, n, random);
      load.sent.push(one);
      const began = performance.now();
      await sendUntilKept(place, url, one, load.answers);
      load.waits.push(performance.now() - began);
      await sleep(pauseMs);
    }
  }
  const all = Promise.all(Array.from({ length: senders }, (_, sender) => run(sender)));
  all.catch(() => {}); // Told by stop.
  return {
    ...load,
    async receipts(more) {
      const enough = load.waits.length + more;
      for (const end = Date.now() + 60_000; load.waits.length < enough; await sleep(20)) {
        if (Date.now() > end) throw new Error(`${load.waits.length} of ${enough} receipts came`);
      }
    },
    async stop() {
      stopped = true;
      await all;
    },
  };
}

/** A third pushes, a third small documents, which share segments, a third streamed ones. */
function deliveryOf(sender: number, n: number, random: (n: number) => number): Sent {
  const key = `m${sender}-${n}`;
  const value = `${n}.${sender}0`;
  const period = dayText(random(40));
  if (sender % 3 === 0) return pushOf(key, period, value);
  if (sender % 3 === 1) return documentOf(key, [{ period, page: `/${random(5)}`, value }]);
  return largeDocument(key, 70 * kib + random(1_500 * kib));
}

/** @throws Error on an answer that a sender would not repeat, or without a receipt in 90 s */
async function sendUntilKept(
  place: FaultPlace,
  url: string,
  sent: Sent,
  answers: Map<number, number>,
): Promise<void> {
  for (const end = Date.now() + 90_000; Date.now() < end; await sleep(50)) {
    const answer = await sendOnce(place, url, sent, AbortSignal.timeout(30_000));
    const status = answer?.status ?? 0;
    answers.set(status, (answers.get(status) ?? 0) + 1);
    if (status === 202) return;
    if (!answer) continue;
    const mayRepeat = status === 503 && Number(answer.headers.get('Retry-After')) > 0;
    if (!mayRepeat) throw new Error(`${sent.key} was answered ${status} ${answer.text}`);
  }
  throw new Error(`no receipt for ${sent.key} within 90 s`);
}
