import { setTimeout as sleep } from 'node:timers/promises';
import type { FaultPlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce } from '../sender.ts';

/** Deliveries that come at a rate of their own, however long the answers take. */
export interface PacedLoad {
  readonly sent: Sent[];
  readonly perSecond: number;
  /** How often each status came; 0: none did. */
  readonly answers: Map<number, number>;
  /** From each delivery to its first answer, in milliseconds. */
  readonly waits: number[];
  /** Sends no more; resolves when all were answered. */
  stop(): Promise<void>;
}

/** Sends each once: what is asserted on it is that every one is taken. */
export function startPacedLoad(place: FaultPlace, url: string, perSecond: number): PacedLoad {
  const load = { sent: [] as Sent[], answers: new Map<number, number>(), waits: [] as number[] };
  const underWay = new Set<Promise<void>>();
  let stopped = false;
  const began = performance.now();
  async function send(one: Sent): Promise<void> {
    const sentAt = performance.now();
    const status = (await sendOnce(place, url, one, AbortSignal.timeout(30_000)))?.status ?? 0;
    load.answers.set(status, (load.answers.get(status) ?? 0) + 1);
    load.waits.push(performance.now() - sentAt);
  }
  async function run(): Promise<void> {
    while (!stopped) {
      const due = ((performance.now() - began) / 1_000) * perSecond;
      while (load.sent.length < due) {
        const one = deliveryOf(load.sent.length);
        load.sent.push(one);
        const sending = send(one).finally(() => underWay.delete(sending));
        underWay.add(sending);
      }
      await sleep(5);
    }
    await Promise.all(underWay);
  }
  const running = run();
  running.catch(() => {}); // Told by stop.
  return {
    ...load,
    perSecond,
    async stop() {
      stopped = true;
      await running;
    },
  };
}

/** The numbers of few days come again and again, so that much is superseded. */
function deliveryOf(n: number): Sent {
  const value = `${n}.10`;
  if (n % 4 > 0) return pushOf(`paced ${n}`, dayText(n % 40), value);
  const lines = Array.from({ length: 20 }, (_, i) => ({
    ...{ period: dayText((n + i) % 40), page: `/${n % 5}`, value: `${n}.${i}0` },
  }));
  return documentOf(`paced-${n}`, lines);
}
