import { setTimeout as timer } from 'node:timers/promises';
import { type Receipt, readError, readReceipt } from './answers.ts';
import type { Body } from './body.ts';
import { DeliveryFailed } from './failure.ts';
import { type Answer, NoAnswer, post } from './post.ts';

import { backoffMs, retryAfterMs, retryLimits } from './waits.ts';

/** One delivery as it is sent, attempt after attempt. */
export interface Request {
  readonly url: URL;
  readonly body: Body;
  /** Made anew for each attempt, for a signature carries the time. */
  headers(nowMs: number): Promise<Readonly<Record<string, string>>>;
}

/** What the sender takes from outside; everything has a default. */
export interface SenderParts {
  /** Milliseconds since 1970. */
  readonly clock?: () => number;
  /** From 0 to 1. */
  readonly random?: () => number;
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** An attempt without a byte in either direction ends after this; 60 s by default. */
  readonly silenceMs?: number;
  readonly signal?: AbortSignal;
  readonly tell?: (progress: Progress) => void;
}

/** `sent` counts bytes of the body; `why` says what ended the attempt. */
export type Progress =
  | {
      readonly kind: 'sending';
      readonly attempt: number;
      readonly sent: number;
      readonly bytes: number;
    }
  | {
      readonly kind: 'waiting';
      readonly attempt: number;
      readonly waitMs: number;
      readonly why: string;
    };

/** A delivery that was taken. */
export interface Delivered {
  readonly receipt: Receipt;
  /** Requests made, at least 1. */
  readonly attempts: number;
  /** `Idempotency-Replayed`: nothing was stored now, the receipt is an earlier delivery's. */
  readonly replayed: boolean;
  /** `Idempotency-Body-Differs`: the key was used before, for other bytes. */
  readonly bodyDiffers: boolean;
}

/** Why another attempt may do better, and what the service said about when. */
interface Setback {
  readonly why: string;
  readonly code: string;
  readonly status?: number;
  readonly retryAfterMs: number | null;
}

/**
 * Sends a delivery until it is taken (specification, "Webhook delivery contract (for senders)"
 * and "Errors"): 2xx ends it; 429 waits its `Retry-After`; 5xx, timeouts and dropped connections
 * wait 30 s, doubling up to an hour, and at least their `Retry-After`; all else is final. It gives
 * up when the next attempt would come more than 3 days after the first.
 *
 * @throws DeliveryFailed
 */
export async function deliver(request: Request, parts: SenderParts = {}): Promise<Delivered> {
  const { clock = Date.now, random = Math.random, sleep = timerSleep } = parts;
  const startedAt = clock();
  let failures = 0;
  for (let attempt = 1; ; attempt++) {
    const outcome = await attemptOnce(request, attempt, parts, clock);
    if ('receipt' in outcome) return outcome;
    let waitMs: number;
    if (outcome.status === 429 && outcome.retryAfterMs !== null) {
      waitMs = Math.max(retryLimits.tooManyWaitMinMs, outcome.retryAfterMs);
    } else {
      waitMs = Math.max(backoffMs(failures, random()), outcome.retryAfterMs ?? 0);
      failures += 1;
    }
    if (clock() + waitMs - startedAt > retryLimits.giveUpAfterMs) throw gaveUp(outcome, attempt);
    parts.tell?.({ kind: 'waiting', attempt, waitMs, why: outcome.why });
    await sleep(waitMs, parts.signal);
  }
}

async function timerSleep(ms: number, signal?: AbortSignal): Promise<void> {
  await timer(ms, undefined, signal ? { signal } : {});
}

async function attemptOnce(
  request: Request,
  attempt: number,
  parts: SenderParts,
  clock: () => number,
): Promise<Delivered | Setback> {
  const { bytes } = request.body;
  const sent = (so: number) => parts.tell?.({ kind: 'sending', attempt, sent: so, bytes });
  sent(0);
  try {
    const headers = await request.headers(clock());
    const { silenceMs = 60_000, signal } = parts;
    const answer = await post(request.url, headers, request.body, { silenceMs, signal, sent });
    return judged(answer, attempt, clock());
  } catch (error) {
    if (!(error instanceof NoAnswer)) throw error;
    const why = `no answer: ${error.message}`;
    return { why, code: 'no_answer', retryAfterMs: null };
  }
}

/** @throws DeliveryFailed when the answer is final and no receipt */
function judged(answer: Answer, attempts: number, nowMs: number): Delivered | Setback {
  const { status, headers } = answer;
  if (status >= 200 && status < 300) {
    const receipt = readReceipt(answer.text);
    if (!receipt) {
      const message = `The answer ${status} holds no receipt.`;
      throw new DeliveryFailed('no_receipt', message, { status, attempts });
    }
    const replayed = headers['idempotency-replayed'] === 'true';
    const bodyDiffers = headers['idempotency-body-differs'] === 'true';
    return { receipt, attempts, replayed, bodyDiffers };
  }
  const { code, message, field } = readError(answer);
  if (status !== 429 && status < 500) {
    throw new DeliveryFailed(code, message, { status, field, attempts });
  }
  const retryAfter = retryAfterMs(headers['retry-after'], nowMs);
  return { why: `${status} ${code}`, code, status, retryAfterMs: retryAfter };
}

function gaveUp(last: Setback, attempts: number): DeliveryFailed {
  const days = retryLimits.giveUpAfterMs / 86_400_000;
  const tried = `${days} days are over after ${attempts} attempts`;
  const message = `Given up: ${tried}; the last: ${last.why}.`;
  return new DeliveryFailed(last.code, message, { status: last.status, attempts });
}
