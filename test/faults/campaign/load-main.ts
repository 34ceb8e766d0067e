import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../load.ts';
import { dayText } from '../sender.ts';
import { AttemptLog, type Ended, type Outcome } from './attempts.ts';
import { bodyOf } from './bodies.ts';
import { Draws, type Sending } from './draws.ts';
import { type Answer, get, type OpenScope, post, sha256Of } from './post.ts';

/** What the load process is told, in a file: it holds keys. */
export interface LoadTask {
  readonly url: string;
  readonly seed: number;
  readonly senders: number;
  /** Senders rest for up to so long between two draws. */
  readonly restMs: number;
  readonly scopes: readonly OpenScope[];
  /** The log that it writes. */
  readonly log: string;
}

/** A persistent delivery without a receipt for so long is a failure of the service. */
const receiptWaitMs = 120_000;
const retryMs = { first: 50, most: 1_000 };

/**
 * The load process: senders that draw deliveries from a seed, send them over HTTP, and write down
 * each attempt before and after. It knows nothing of faults, and no fault is made to it.
 *
 * It ends when its parent says `stop`: nothing new is drawn then, and what was begun gets its
 * receipt first. It ends with 1 when a receipt does not come, and with its parent.
 */
const task = JSON.parse(readFileSync(process.argv[2]!, 'utf8')) as LoadTask;
const scopes = new Map(task.scopes.map((scope) => [scope.name, scope]));
const log = await AttemptLog.create(task.log);
let attempts = 0;
let stopped = false;

process.on('message', (message) => {
  if (message === 'stop') stopped = true;
});
process.once('disconnect', () => process.exit(1));
process.send?.('ready');
await Promise.all(Array.from({ length: task.senders }, (_, sender) => sendOn(sender)));
await log.close();
process.disconnect?.();
process.exit(0);

async function sendOn(sender: number): Promise<void> {
  const draws = new Draws(task.seed, sender, task.scopes);
  // Apart from what is drawn: these may depend on how long things take.
  const random = randomOf(Math.imul(task.seed, 17) + sender);
  while (!stopped) {
    const { sendings, atOnce } = draws.next();
    if (atOnce) await Promise.all(sendings.map(deliver));
    else for (const one of sendings) await deliver(one);
    if (random(6) === 0) await readOnce(task.scopes[random(task.scopes.length)]!, random(60));
    await sleep(random(task.restMs + 1));
  }
}

/** Sends until there is a receipt, or once. */
async function deliver(sending: Sending): Promise<void> {
  let waitMs = retryMs.first;
  for (const until = Date.now() + receiptWaitMs; ; ) {
    const outcome = await attempt(sending);
    if (outcome !== 'unknown' || !sending.persistent) return;
    if (Date.now() > until) throw new Error(`no receipt for ${JSON.stringify(sending)}`);
    await sleep(waitMs / 2 + Math.random() * waitMs);
    waitMs = Math.min(2 * waitMs, retryMs.most);
  }
}

async function attempt(sending: Sending): Promise<Outcome> {
  const { scope, body: spec, how } = sending;
  const body = bodyOf(task.seed, spec);
  attempts += 1;
  const number = attempts;
  const { rows } = body.expected;
  const made = { sha256: sha256Of(body.bytes), bytes: body.bytes.length, rows: rows.length };
  await log.append({ at: 'begin', attempt: number, scope, body: spec, how, ...made });
  const end = endOf(number, await post(task.url, scopes.get(scope)!, sending, body));
  await log.append(end);
  return end.outcome;
}

function endOf(attempt: number, answer: Answer | null): Ended {
  const status = answer?.status ?? null;
  const isRefused = status !== null && status >= 400 && status < 500;
  const outcome = status === 202 ? 'ok' : isRefused ? 'refused' : 'unknown';
  const header = (name: string) => answer?.headers[name];
  return {
    ...{ at: 'end', attempt, outcome, status },
    receipt: status === 202 ? answer!.text : null,
    replayed: header('idempotency-replayed') === 'true',
    differs: header('idempotency-body-differs') === 'true',
    retryAfter: Number(header('retry-after')) > 0,
  };
}

/** Reads some days of a source while faults are made. */
async function readOnce(scope: OpenScope, day: number): Promise<void> {
  const window = `from=${dayText(day)}&to=${dayText(day + 3)}`;
  const answer = await get(task.url, scope, `/v1/samples?${window}`);
  const samples = answer?.status === 200 ? JSON.parse(answer.text).samples : [];
  const ids = (samples as { artifact_id: string }[]).map((one) => one.artifact_id);
  const artifacts = [...new Set(ids)];
  await log.append({ at: 'read', scope: scope.name, status: answer?.status ?? null, artifacts });
}
