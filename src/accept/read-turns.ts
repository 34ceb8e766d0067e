import { limits } from '../domain/limits.ts';

/**
 * Who of the paused senders is read next, over all uploads.
 *
 * While a sender is paused its bytes gather in the system's buffers, several MiB of them, and one
 * wake-up reads them all: a pause is not heard before. So only a few are woken in one turn of the
 * event loop, and none while too many bytes are on their way to the store.
 */
const wakesInOneTurn = 2;

const waiting: (() => void)[] = [];
let bytesOnTheirWay = 0;
let wakesLeft = wakesInOneTurn;
let turnComes = false;

/** Bytes go to the store. @returns to be called once, when they have arrived */
export function bytesGo(bytes: number): () => void {
  bytesOnTheirWay += bytes;
  return () => {
    bytesOnTheirWay -= bytes;
    if (waiting.length > 0) comeToTurn();
  };
}

/** Calls `wake` when it is its turn: at once where nobody waits, never before its time. */
export function askForTurn(wake: () => void): void {
  waiting.push(wake);
  serve();
}

function serve(): void {
  while (waiting.length > 0 && wakesLeft > 0 && bytesOnTheirWay < limits.uploadBytesOnWayMax) {
    wakesLeft -= 1;
    waiting.shift()!();
  }
  if (wakesLeft < wakesInOneTurn) comeToTurn();
}

function comeToTurn(): void {
  if (turnComes) return;
  turnComes = true;
  setImmediate(() => {
    turnComes = false;
    wakesLeft = wakesInOneTurn;
    serve();
  });
}
