import { createServer, type ListenOptions } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { monotonicClock } from '../../std/clock.ts';
import type { ListenAddress } from '../settings.ts';

/**
 * Takes an address for processes that will share it (SO_REUSEPORT), which the system lets anybody
 * of the same user join in silence. Another service on it is refused all the same:
 *
 * - one that listens already is met by listening there for a moment without sharing;
 * - one of several processes that starts in the same moment is met by a name that only one can
 *   have, a socket in the abstract namespace, which is as wide as that of ports and ends with the
 *   process that has it;
 * - a lone one that comes later, or in between, listens without sharing: one of the two fails.
 *
 * @returns gives the name back
 * @throws Error with one clear line when the address is taken
 */
export async function holdAddress(address: ListenAddress): Promise<() => Promise<void>> {
  for (const until = monotonicClock() + endingMs; ; await sleep(50)) {
    try {
      return await take(address);
    } catch (cause) {
      if (monotonicClock() < until) continue;
      const { host, port } = address;
      throw new Error(`the address ${host}:${port} cannot be listened on`, { cause });
    }
  }
}

/** So long the processes of a supervisor that was killed just now may take to end. */
const endingMs = 1_000;

async function take({ host, port }: ListenAddress): Promise<() => Promise<void>> {
  const letGo = await listening({ path: `\0weir-listens:${host}:${port}` });
  try {
    const leave = await listening({ host, port, exclusive: true });
    await leave();
  } catch (error) {
    await letGo();
    throw error;
  }
  return letGo;
}

/** @returns stops listening */
function listening(where: ListenOptions): Promise<() => Promise<void>> {
  const server = createServer((socket) => socket.destroy());
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(where, () => {
      resolve(() => new Promise((closed) => server.close(() => closed())));
    });
  });
}
