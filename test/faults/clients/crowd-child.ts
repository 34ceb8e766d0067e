import net from 'node:net';
import { createInterface } from 'node:readline';

/**
 * A crowd of hostile clients, in a process of its own. Each opens a connection, sends what it was
 * told, then a byte a second for ever; whoever is cut off comes back. It reads a byte a second, of
 * what the system has, or nothing at all.
 *
 * Standard input: one JSON line, the `Crowd`. Standard output: a line of counts a second.
 */
export interface Crowd {
  readonly port: number;
  readonly sockets: number;
  /** What each sends at first; socket n sends the n-th of them, over and over. In latin1. */
  readonly begins: readonly string[];
  /** What follows, a byte a second; empty: nothing. */
  readonly trickle: string;
  /** Sends the first text again so often, without waiting for an answer. */
  readonly repeats?: number;
}

export interface CrowdCounts {
  readonly open: number;
  readonly opened: number;
  readonly cut: number;
}

const counts = { open: 0, opened: 0, cut: 0 };
const all = new Map<net.Socket, { readonly socket: net.Socket; readonly n: number }>();
const slices = 50;
let ending = false;

function open(crowd: Crowd, n: number): void {
  const socket = net.connect({ port: crowd.port, host: '127.0.0.1' });
  // Paused: what comes stays in the system's buffers, which stop taking more.
  socket.pause();
  socket.on('error', () => {});
  socket.once('connect', () => {
    counts.open += 1;
    counts.opened += 1;
    all.set(socket, { socket, n });
    const begin = crowd.begins[n % crowd.begins.length]!;
    for (let i = 0; i < (crowd.repeats ?? 1); i++) socket.write(begin, 'latin1');
  });
  socket.once('close', () => {
    if (!all.delete(socket)) {
      setTimeout(() => open(crowd, n), 1_000).unref();
      return;
    }
    counts.open -= 1;
    counts.cut += 1;
    if (!ending) setTimeout(() => open(crowd, n), 100 + 9 * (n % 100)).unref();
  });
}

async function main(): Promise<void> {
  const lines = createInterface({ input: process.stdin });
  const [line] = await new Promise<[string]>((resolve) => lines.once('line', (l) => resolve([l])));
  const crowd = JSON.parse(line) as Crowd;
  for (let n = 0; n < crowd.sockets; n++) {
    // Not all in one turn: the listener's queue is not what is tried here.
    setTimeout(() => open(crowd, n), Math.floor(n / 100) * 20);
  }
  let slice = 0;
  // A byte a second of each, but not of all in one moment: nobody's crowd keeps step.
  const byte = setInterval(() => {
    slice = (slice + 1) % slices;
    for (const { socket, n } of all.values()) {
      if (n % slices !== slice) continue;
      if (crowd.trickle && socket.writable) socket.write(crowd.trickle);
      socket.read(1);
    }
  }, 1_000 / slices);
  const tell = setInterval(() => console.log(JSON.stringify(counts)), 250);
  lines.once('close', () => {
    ending = true;
    clearInterval(byte);
    clearInterval(tell);
    for (const socket of all.keys()) socket.destroy();
  });
}

await main();
