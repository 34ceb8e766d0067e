import type { ChildProcess } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rename, rm, symlink } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { ensureGoBinary } from './go-binary.ts';
import { type Needed, need } from './needed.ts';
import { endServer, freePort, startServer } from './server-process.ts';

const version = 'v0.0.0-20260212201848-7aac2a2c5b7c';
const user = 'admin';
const password = 'adminadmin';
const checkout = fileURLToPath(new URL('../..', import.meta.url));

/** The MinIO binary, or the reason why it cannot be had; for `describeWith`. */
export function minioOrSkip(): Promise<Needed<string>> {
  return need('MinIO', ensureMinio);
}

/**
 * The path of the MinIO binary: `.cache/minio` in the checkout, a link to a build that is kept
 * outside, so that a fresh clone need not build it again.
 *
 * @throws Error one line when it is missing and cannot be built
 */
export async function ensureMinio(): Promise<string> {
  const binary = await ensureGoBinary({
    ...{ name: 'minio', version, takes: '2–3 minutes' },
    build: () => ['install', `github.com/minio/minio@${version}`],
  });
  const link = join(checkout, '.cache', 'minio');
  await mkdir(join(checkout, '.cache'), { recursive: true });
  // Renamed into place, so that another process sees the old link or the new one.
  const fresh = `${link}-${randomUUID()}`;
  await symlink(binary, fresh);
  await rename(fresh, link);
  return link;
}

export interface Minio {
  readonly port: number;
  /** Of the process that runs now. */
  pid(): number;
  /** Of a bucket in it, for `openArtifacts`; `https` when it was started with certificates. */
  url(bucket: string): string;
  /** SIGKILL; the data stay for a restart. */
  kill(): Promise<void>;
  /** Stops all its threads (SIGSTOP): connections stand, nothing is answered until `resume`. */
  pause(): Promise<void>;
  resume(): void;
  /** Starts it again on the same port and data. */
  restart(): Promise<void>;
  /** Ends it and removes what it stored, unless the directory was given. */
  stop(): Promise<void>;
}

/**
 * Starts a MinIO on a free loopback port and waits until it is ready. `dir` keeps its data
 * (default: a temporary directory of its own), `certs` holds `public.crt` and `private.key`.
 */
export async function startMinio(options: { dir?: string; certs?: string } = {}): Promise<Minio> {
  const binary = await ensureMinio();
  const home = await mkdtemp(join(tmpdir(), 'weir-minio-'));
  const data = options.dir ?? join(home, 'data');
  const port = await freePort();
  const certs = options.certs ?? join(home, 'certs');
  const args = ['server', '--quiet', '--address', `127.0.0.1:${port}`, '--certs-dir', certs, data];
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD: password },
    ...{ MINIO_BROWSER: 'off', MINIO_UPDATE: 'off', MINIO_CI_CD: 'on' },
  };
  const health = `${options.certs ? 'https' : 'http'}://127.0.0.1:${port}/minio/health/cluster`;
  const ready = () => answersWell(health);
  const start = () => startServer({ name: 'MinIO', command: binary, args, env, ready });
  let child = await start();
  const end = () => endServer(child);
  return {
    port,
    pid: () => child.pid!,
    url: (bucket) => {
      const scheme = options.certs ? 's3+https' : 's3+http';
      return `${scheme}://${user}:${password}@127.0.0.1:${port}/${bucket}`;
    },
    kill: end,
    pause: () => pause(child),
    resume: () => {
      child.kill('SIGCONT');
    },
    restart: async () => {
      await end();
      child = await start();
    },
    stop: async () => {
      await end();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function pause(child: ChildProcess): Promise<void> {
  child.kill('SIGSTOP');
  // The signal reaches one thread after the other, and the last could still answer.
  const tasks = `/proc/${child.pid}/task`;
  for (let running = true; running; await sleep(1)) {
    const stats = (await readdir(tasks)).map((id) => readFile(join(tasks, id, 'stat'), 'latin1'));
    running = (await Promise.all(stats)).some((stat) => !/\) [tT] /.test(stat));
  }
}

/** Its certificate is made for the test, so it is not checked here. */
function answersWell(url: string): Promise<boolean> {
  return new Promise((resolve) => {
    const options = { agent: false, timeout: 1_000, rejectUnauthorized: false };
    const request = (url.startsWith('https') ? https : http).get(url, options, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
