import { limits } from '../domain/limits.ts';

/** What the watch needs to know of a body on its way in. */
export interface Sender {
  readonly awaitsSender: boolean;
  readonly lastByteAt: number;
  cutSilentSender(): void;
}

const senders = new Set<Sender>();
const tickMs = 1_000;
let timer: NodeJS.Timeout | null = null;

/**
 * Cuts a sender off that sends no byte for `senderSilenceMs` while we wait for it. One timer
 * serves all of them.
 *
 * @returns ends the watch; may be called again
 */
export function watchSender(sender: Sender): () => void {
  senders.add(sender);
  timer ??= setInterval(tick, tickMs).unref();
  return () => senders.delete(sender);
}

function tick(): void {
  const silentSince = performance.now() - limits.senderSilenceMs;
  for (const sender of senders) {
    if (sender.awaitsSender && sender.lastByteAt < silentSince) {
      senders.delete(sender);
      sender.cutSilentSender();
    }
  }
  if (senders.size === 0 && timer) {
    clearInterval(timer);
    timer = null;
  }
}
