import { createHash } from 'node:crypto';
import { ask } from '../../test/support/ask.ts';
import type { Target } from '../load/messages.ts';
import { keptStatus, requestHead } from '../load/target.ts';

/** Somebody who takes deliveries and keeps their bytes: weir, another service, a store itself. */
export interface Taker {
  readonly target: Target;
  /** The stored bytes of a delivery. @param answer what was said when it was taken */
  stored(answer: TakenAnswer): Promise<Buffer>;
  /** Of the service's process; null: there is none but the store's. */
  readonly pid: number | null;
}

export interface TakenAnswer {
  readonly text: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  /** The path that the delivery was sent to. */
  readonly path: string;
}

/**
 * Sends delivery number `n` and looks whether the bytes that are stored then are those.
 *
 * @throws Error when they are not
 */
export async function requireKept(
  taker: Taker,
  n: number,
  body: Buffer,
  mediaType: string,
): Promise<void> {
  const { target } = taker;
  const { method, path, headers } = requestHead(target, n, mediaType, [body]);
  const port = target.kind === 'put' ? target.address.port : target.port;
  const more: Record<string, string> =
    target.kind === 'tus' ? { 'upload-length': String(body.length) } : {};
  const question = { method, headers: { ...headers, ...more }, body };
  const answer = await ask(`http://127.0.0.1:${port}${path}`, question);
  if (answer.status !== keptStatus[target.kind]) {
    throw new Error(`delivery ${n} was not kept: ${answer.status} ${answer.text}`);
  }
  const stored = await taker.stored({ text: answer.text, headers: answer.headers, path });
  const hash = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
  if (hash(stored) !== hash(body)) throw new Error(`delivery ${n} is stored with other bytes`);
}
