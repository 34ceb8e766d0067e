import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, rename, symlink } from 'node:fs/promises';
import http from 'node:http';
import https from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureGoBinary } from './go-binary.ts';
import { type Needed, need } from './needed.ts';
import { runS3Server, type S3Server } from './s3-server.ts';
import { freePort, startServer } from './server-process.ts';

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

export type Minio = S3Server;

/**
 * Starts a MinIO on a free loopback port and waits until it is ready. `dir` keeps its data
 * (default: a temporary directory of its own), `dirs` are the drives of a set, which MinIO takes
 * from one disk since `MINIO_CI_CD` is on; `certs` holds `public.crt` and `private.key`.
 */
export async function startMinio(
  options: { dir?: string; dirs?: readonly string[]; certs?: string } = {},
): Promise<Minio> {
  const binary = await ensureMinio();
  const home = await mkdtemp(join(tmpdir(), 'weir-minio-'));
  const data = options.dirs ?? [options.dir ?? join(home, 'data')];
  const port = await freePort();
  const certs = options.certs ?? join(home, 'certs');
  const address = ['--address', `127.0.0.1:${port}`, '--certs-dir', certs];
  const args = ['server', '--quiet', ...address, ...data];
  const env = {
    ...{ PATH: process.env.PATH, HOME: home, MINIO_ROOT_USER: user, MINIO_ROOT_PASSWORD: password },
    ...{ MINIO_BROWSER: 'off', MINIO_UPDATE: 'off', MINIO_CI_CD: 'on' },
  };
  const scheme = options.certs ? 'https' : 'http';
  const ready = () => answersWell(`${scheme}://127.0.0.1:${port}/minio/health/cluster`);
  const origin = `${scheme}://${user}:${password}@127.0.0.1:${port}`;
  const start = () => startServer({ name: 'MinIO', command: binary, args, env, ready });
  return runS3Server({ port, home, origin }, start);
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
