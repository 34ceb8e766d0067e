import { limits } from '../domain/limits.ts';

/** An answer of which a part has not left yet, since its reader does not take it. */
export interface UnreadAnswer {
  /** All of it; several may send the same bytes. */
  readonly body: Uint8Array;
  /** How much of it has left. */
  readonly bytesTaken: number;
  /** Ends the connection. */
  cut(): void;
}

/** Where an answer stood when it was last looked at. */
interface Look {
  at: number;
  bytesTaken: number;
}

/** From the oldest. */
const unread = new Map<UnreadAnswer, Look>();
/** Buffers that answers lie in, and how many: several send the same bytes, small ones share one. */
const answersIn = new Map<ArrayBufferLike, number>();
let bytesHeld = 0;
let timer: NodeJS.Timeout | null = null;
const tickMs = 1_000;

/** Bytes of the buffers that this process's unread answers lie in, each counted once. */
export function unreadBytes(): number {
  return bytesHeld;
}

/**
 * Watches an answer until its reader has taken it, so that nobody makes the process grow by asking
 * and not reading: one that is taken too slowly is cut (`readersBytesASecondMin`), and where all of
 * them together hold too much (`unreadBytesMax`) the oldest gives way. A reader who takes nothing
 * at all is cut by uWebSockets.js after ten seconds.
 *
 * @returns ends the watch; may be called again
 */
export function watchReader(answer: UnreadAnswer): () => void {
  unread.set(answer, { at: performance.now(), bytesTaken: answer.bytesTaken });
  hold(answer.body);
  for (const oldest of unread.keys()) {
    if (bytesHeld <= limits.unreadBytesMax || oldest === answer) break;
    cut(oldest);
  }
  timer ??= setInterval(tick, tickMs).unref();
  return () => forget(answer);
}

function tick(): void {
  const now = performance.now();
  for (const [answer, last] of unread) {
    const ms = now - last.at;
    if (ms < limits.readersProgressMs) continue;
    const { bytesTaken } = answer;
    const owed = (ms / 1_000) * limits.readersBytesASecondMin;
    if (bytesTaken - last.bytesTaken < owed) cut(answer);
    else Object.assign(last, { at: now, bytesTaken });
  }
  if (unread.size > 0 || !timer) return;
  clearInterval(timer);
  timer = null;
}

function cut(answer: UnreadAnswer): void {
  forget(answer);
  answer.cut();
}

function forget(answer: UnreadAnswer): void {
  if (!unread.delete(answer)) return;
  const { buffer } = answer.body;
  const others = answersIn.get(buffer)! - 1;
  if (others > 0) {
    answersIn.set(buffer, others);
    return;
  }
  answersIn.delete(buffer);
  bytesHeld -= buffer.byteLength;
}

function hold({ buffer }: Uint8Array): void {
  const others = answersIn.get(buffer) ?? 0;
  answersIn.set(buffer, others + 1);
  if (others === 0) bytesHeld += buffer.byteLength;
}
