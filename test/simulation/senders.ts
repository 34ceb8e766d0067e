import type { ServiceProcess } from './node.ts';
import type { World } from './outside.ts';
import type { Intent } from './requests.ts';
import { requestOf } from './requests.ts';
import type { Answer, Request } from './wire.ts';

/** What became of one intent of one sender. */
export interface Sent {
  readonly intent: Intent;
  /** Of the first attempt, in virtual milliseconds. */
  readonly begunAt: number;
  /** Every answer below 500, in the order of their coming. */
  readonly answers: { readonly at: number; readonly answer: Answer }[];
  /** Of every answer. */
  readonly statuses: number[];
}

/** Who is there to be asked; it changes while processes end and start. */
export type Serving = () => readonly ServiceProcess[];

/** How senders are: when they give an answer up, and how often they send twice at once. */
export interface Manners {
  readonly patienceMs: number;
  readonly twicePercent: number;
}

/**
 * Sends one intent after another, each until it has an answer that is final, as the contract of
 * senders asks (specification, "Webhook delivery contract"), only with shorter waits.
 */
export async function sendAll(
  world: World,
  serving: Serving,
  intents: readonly Intent[],
  manners: Manners,
  note: (sent: Sent) => void,
): Promise<void> {
  const { time, random } = world;
  for (const intent of intents) {
    await time.sleep(random.below(1_200));
    const sent: Sent = { intent, begunAt: time.now, answers: [], statuses: [] };
    note(sent);
    for (let wait = 100; ; wait = Math.min(2 * wait, 2_000)) {
      const tries = [attempt(world, serving, sent, manners)];
      if (random.percent(manners.twicePercent)) {
        tries.push(attempt(world, serving, sent, manners));
      }
      await Promise.all(tries);
      if (sent.answers.length > 0) break;
      await time.sleep(wait + random.below(wait));
    }
  }
}

async function attempt(
  world: World,
  serving: Serving,
  sent: Sent,
  manners: Manners,
): Promise<void> {
  const { time, random, trace } = world;
  await time.sleep(random.below(5));
  const answer = await ask(world, serving, requestOf(sent.intent, time.clock), manners.patienceMs);
  const { key, source } = sent.intent;
  trace.add(time.now, `sender ${source} ${key}: ${answer?.status ?? 'no answer'}`);
  if (answer) sent.statuses.push(answer.status);
  // The clock was set while it was on its way: it is signed anew (specification, "senders", 2).
  const isLate = answer?.status === 400 && answer.body.includes('Service-Signature');
  if (answer && answer.status < 500 && !isLate) sent.answers.push({ at: time.now, answer });
}

/** One request to any process that serves. @returns null when no answer came in time */
export function ask(
  world: World,
  serving: Serving,
  request: Request,
  patienceMs: number,
): Promise<Answer | null> {
  const { time, random } = world;
  const there = serving();
  if (there.length === 0) return Promise.resolve(null);
  const node = random.pick(there);
  return new Promise((resolve) => {
    let cut = () => {};
    const giveUp = time.after(patienceMs, null, () => {
      // The other end hears of it as soon as it can.
      time.after(0, node, () => cut());
      resolve(null);
    });
    time.after(0, node, () => {
      cut = node.request(request, (answer) => {
        giveUp();
        resolve(answer);
      });
    });
  });
}
