import { createServer, connect as dial, type Socket } from 'node:net';

/** A TCP relay to a local port, whose connections can fall silent or slow down. */
export interface Relay {
  readonly port: number;
  /** How many connections it took. */
  connections(): number;
  /** Those that stand carry nothing any more and are not ended; new ones work. */
  freeze(): void;
  /** Whatever comes back takes so much longer, from now on. */
  delay(ms: number): void;
  stop(): Promise<void>;
}

export async function startRelay(upstreamPort: number): Promise<Relay> {
  let [connections, delayMs] = [0, 0];
  const ends = new Set<Socket>();
  const server = createServer((near) => {
    connections += 1;
    const far = dial(upstreamPort, '127.0.0.1');
    for (const [end, other] of [
      [near, far],
      [far, near],
    ] as const) {
      ends.add(end);
      end.on('close', () => {
        ends.delete(end);
        other.destroy();
      });
      // The other end is told by the close.
      end.on('error', () => undefined);
    }
    near.on('data', (bytes) => far.write(bytes));
    far.on('data', (bytes) => setTimeout(() => near.write(bytes), delayMs));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as { port: number }).port,
    connections: () => connections,
    freeze() {
      for (const end of ends) end.removeAllListeners('data').pause();
    },
    delay(ms) {
      delayMs = ms;
    },
    stop() {
      for (const end of ends) end.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
