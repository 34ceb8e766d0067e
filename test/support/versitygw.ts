import { mkdir, mkdtemp } from 'node:fs/promises';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureGoBinary } from './go-binary.ts';
import { type Needed, need } from './needed.ts';
import { runS3Server, type S3Server } from './s3-server.ts';
import { freePort, startServer } from './server-process.ts';

const version = 'v1.8.0';
const user = 'admin';
const password = 'adminadmin';

/** The Versity S3 Gateway, or the reason why it cannot be had; for `describeWith`. */
export function versityOrSkip(): Promise<Needed<string>> {
  return need('versitygw', ensureVersity);
}

/** @throws Error one line when it is missing and cannot be built */
function ensureVersity(): Promise<string> {
  return ensureGoBinary({
    ...{ name: 'versitygw', version, takes: '2–4 minutes' },
    build: () => ['install', `github.com/versity/versitygw/cmd/versitygw@${version}`],
  });
}

/**
 * Starts a gateway on a free loopback port, over a directory of its own whose file system keeps
 * extended attributes. Unless told otherwise it closes each connection after one answer.
 */
export async function startVersity({ keepAlive = false } = {}): Promise<S3Server> {
  const command = await ensureVersity();
  const home = await mkdtemp(join(tmpdir(), 'weir-versity-'));
  const data = join(home, 'data');
  await mkdir(data);
  const port = await freePort();
  const listen = ['--quiet', '--port', `127.0.0.1:${port}`];
  const args = [...listen, ...(keepAlive ? ['--keep-alive'] : []), 'posix', data];
  const keys = { ROOT_ACCESS_KEY: user, ROOT_SECRET_KEY: password };
  const env = { PATH: process.env.PATH, HOME: home, ...keys };
  const start = () =>
    startServer({ name: 'versitygw', command, args, env, ready: () => accepts(port) });
  const origin = `http://${user}:${password}@127.0.0.1:${port}`;
  return runS3Server({ port, home, origin }, start);
}

/** It is ready with its listener. */
function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = net.connect({ host: '127.0.0.1', port });
    socket.on('error', () => resolve(false));
    socket.on('connect', () => {
      resolve(true);
      socket.destroy();
    });
  });
}
