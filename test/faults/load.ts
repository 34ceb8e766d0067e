import type { SentTo } from './place.ts';
import { dayText, documentOf, pushOf, type Sent, sendUntilKept } from './sender.ts';

/** The same numbers for the same seed (mulberry32). @returns whole numbers from 0, below `n` */
export function randomOf(seed: number): (n: number) => number {
  let state = seed | 0;
  return (n) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % n;
  };
}

/** A few senders who send one delivery after another and repeat until each has its receipt. */
export interface Load {
  readonly sent: Sent[];
  /** Sends nothing new; resolves when all that was begun has its receipt. */
  stop(): Promise<void>;
}

/** The numbers of few days are sent again and again, so that much is superseded. */
export function startLoad(
  place: Pick<SentTo, 'push' | 'document'>,
  url: string,
  random: (n: number) => number,
  senders = 4,
): Load {
  const sent: Sent[] = [];
  let stopped = false;
  async function send(sender: number): Promise<void> {
    for (let n = 0; !stopped; n++) {
      const one = delivery(`s${sender}-${n}`, random);
      sent.push(one);
      await sendUntilKept(place, url, one);
    }
  }
  const all = Promise.all(Array.from({ length: senders }, (_, sender) => send(sender)));
  all.catch(() => {}); // Told by stop.
  return {
    sent,
    async stop() {
      stopped = true;
      await all;
    },
  };
}

/** The key stands in the values, so no two bodies are the same. */
function delivery(key: string, random: (n: number) => number): Sent {
  const digits = key.replace(/^s(\d+)-(\d+)$/, '$2.$1');
  if (random(3) > 0) return pushOf(key, dayText(random(40)), `${digits}0`);
  const lines = Array.from({ length: 1 + random(300) }, (_, i) => ({
    period: dayText(random(40)),
    page: `/${random(5)}`,
    value: `${digits}${i}`,
  }));
  // Within a delivery the later record wins; the oracle counts stored rows, so none may lose here.
  const unique = new Map(lines.map((line) => [`${line.period} ${line.page}`, line]));
  return documentOf(key, [...unique.values()]);
}
