import { type ChildProcess, spawn } from 'node:child_process';
import { readdir, readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/** How a server that tests need is started. */
export interface ServerStart {
  /** For messages. */
  readonly name: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  readonly uid?: number;
  readonly gid?: number;
  /** Whether it answers; asked again and again until it does. */
  ready(): Promise<boolean>;
}

/**
 * Starts a server and waits until it is ready; a test run that ends early takes it along.
 *
 * @throws Error with the end of what it said when it ends before, or is not ready within 30 s
 */
export async function startServer(start: ServerStart): Promise<ChildProcess> {
  const { name, command, args, ready, ...options } = start;
  const child = spawn(command, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      said = `${said}${bytes}`.slice(-4_000);
    });
  }
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  for (const deadline = Date.now() + 30_000; Date.now() < deadline; await sleep(25)) {
    if (child.exitCode !== null) throw new Error(`${name} ended with ${child.exitCode}: ${said}`);
    if (await ready()) return child;
  }
  child.kill('SIGKILL');
  throw new Error(`${name} was not ready within 30 s: ${said}`);
}

/** Ends a server by SIGKILL, or by the signal given, and waits until it has ended. */
export async function endServer(child: ChildProcess, by: NodeJS.Signals = 'SIGKILL') {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = new Promise((resolve) => child.once('exit', resolve));
  child.kill(by);
  await ended;
}

/** Stops all its threads (SIGSTOP): connections stand, nothing is answered until SIGCONT. */
export async function pauseServer(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP');
  // The signal reaches one thread after the other, and the last could still answer.
  const tasks = `/proc/${child.pid}/task`;
  for (let running = true; running; await sleep(1)) {
    const stats = (await readdir(tasks)).map((id) => readFile(join(tasks, id, 'stat'), 'latin1'));
    running = (await Promise.all(stats)).some((stat) => !/\) [tT] /.test(stat));
  }
}

/** A TCP port on loopback that nobody listens on now. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      if (address === null || typeof address === 'string') return reject(new Error('no port'));
      server.close(() => resolve(address.port));
    });
  });
}
