import { setTimeout as sleep } from 'node:timers/promises';
import { createClient } from '@redis/client';
import { ensureDebian } from './debian.ts';
import { type Needed, need } from './needed.ts';
import { endServer, freePort, pauseServer, startServer } from './server-process.ts';

/** The program redis-server, or the reason why it cannot be had; for `describeWith`. */
export function redisOrSkip(): Promise<Needed<string>> {
  return need('Redis', ensureRedis);
}

/** @throws Error one line when it is missing and cannot be installed */
function ensureRedis(): Promise<string> {
  return ensureDebian('/usr/bin/redis-server', ['redis-server']);
}

export interface Redis {
  readonly port: number;
  /** `redis://…`, or `rediss://…` when it was started with certificates. */
  readonly url: string;
  /** Of the process that runs now. */
  pid(): number;
  /** SIGKILL; nothing is kept for a restart. */
  kill(): Promise<void>;
  /** SIGSTOP: connections stand, nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it again on the same port, empty. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

export interface RedisOptions {
  readonly password?: string;
  /** Files of a certificate and its key; it then speaks TLS only. */
  readonly tls?: { readonly cert: string; readonly key: string };
  /** A node of a cluster, without slots yet; it writes the file `config`. */
  readonly cluster?: { readonly config: string; readonly busPort: number };
}

/** Starts a Redis server on a free loopback port; it keeps no data. */
export async function startRedis(options: RedisOptions = {}): Promise<Redis> {
  const { password, tls, cluster } = options;
  const command = await ensureRedis();
  const port = await freePort();
  const scheme = tls ? 'rediss' : 'redis';
  const url = `${scheme}://${password ? `:${password}@` : ''}127.0.0.1:${port}`;
  const args = [
    ...['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', '/tmp'],
    ...(password ? ['--requirepass', password] : []),
    ...(tls
      ? ['--port', '0', '--tls-port', `${port}`, '--tls-cert-file', tls.cert]
      : ['--port', `${port}`]),
    ...(cluster ? ['--cluster-enabled', 'yes', '--cluster-config-file', cluster.config] : []),
    ...(cluster ? ['--cluster-port', `${cluster.busPort}`] : []),
    ...(cluster ? ['--cluster-require-full-coverage', 'no'] : []),
    ...(tls ? ['--tls-key-file', tls.key, '--tls-auth-clients', 'no'] : []),
  ];
  const ready = () => answers(url);
  const start = () => startServer({ name: 'Redis', command, args, ready });
  let child = await start();
  return {
    ...{ port, url },
    pid: () => child.pid!,
    kill: () => endServer(child),
    pause: () => pauseServer(child),
    resume: () => void child.kill('SIGCONT'),
    async restart() {
      await endServer(child);
      child = await start();
    },
    stop: () => endServer(child),
  };
}

/** A client of a test's own, to look at what is in the server. */
export async function redisClient(url: string) {
  // The certificate is made for the test, so it is not checked here.
  const socket = url.startsWith('rediss:')
    ? { tls: true as const, rejectUnauthorized: false }
    : undefined;
  const client = createClient({ url, socket: { ...socket, reconnectStrategy: false } });
  // Told again by the call that fails.
  client.on('error', () => undefined);
  return client.connect();
}

async function answers(url: string): Promise<boolean> {
  try {
    const client = await redisClient(url);
    const pong = await Promise.race([client.ping(), sleep(1_000, 'late')]);
    client.destroy();
    return pong === 'PONG';
  } catch {
    return false;
  }
}
