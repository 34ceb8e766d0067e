import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Image } from './image.ts';
import { run } from './run.ts';

/** A container of an image: as root inside as Docker makes it with the compose file's options. */
export interface Container {
  /** Of its first process, seen from here. */
  readonly pid: number;
  /** Runs a program in it, as its user. @returns what it wrote to stdout */
  exec(args: readonly string[]): Promise<string>;
  /** Asks it to stop. @returns the exit code of its first process, and how long that took */
  stop(): Promise<{ code: number | null; ms: number }>;
  kill(): void;
  /** What it wrote. */
  said(): string;
}

/**
 * Read-only root, a data directory and an empty /tmp, no capability and no way to get one. The
 * first process is the service itself, so that signals reach it as they do in a container.
 */
const mounts = `
  root=$1; data=$2; shift 2
  mount --bind "$root" "$root"
  mount -o remount,bind,ro "$root"
  mount --bind "$data" "$root/data"
  mount -t tmpfs tmpfs "$root/tmp"
  mount -t proc proc "$root/proc"
  exec chroot "$root" "$@"`;
const powerless = ['--clear-groups', '--no-new-privs', '--bounding-set=-all', '--inh-caps=-all'];

export async function startContainer(
  image: Image,
  options: { data: string; env: Record<string, string>; args: readonly string[] },
): Promise<Container> {
  const { root, config } = image;
  const [uid = '', gid = ''] = config.user.split(':');
  await mkdir(options.data, { recursive: true, mode: 0o700 });
  await chown(options.data, Number(uid), Number(gid));
  const env = Object.entries({ ...path, ...config.env, ...options.env });
  const environment = ['env', '-i', '-C', config.workdir, ...env.map((pair) => pair.join('='))];
  const inside = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, ...powerless, ...environment];
  const command = [...config.entrypoint, ...options.args];
  const spaces = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', mounts, 'container'];
  const child = spawn('unshare', [...spaces, root, options.data, ...inside, ...command], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.on('data', (bytes) => {
      said += bytes;
    });
  }
  const pid = await firstProcess(child);
  return {
    pid,
    exec: (args) => {
      const as = ['--setuid', uid, '--setgid', gid];
      const into = ['--target', `${pid}`, '--mount', '--pid', '--root', ...as];
      return run('nsenter', [...into, ...environment, ...args]);
    },
    async stop() {
      const began = performance.now();
      const ended = once(child, 'exit');
      process.kill(pid, config.stopSignal as NodeJS.Signals);
      const [code] = (await ended) as [number | null];
      return { code, ms: performance.now() - began };
    },
    kill: () => void child.kill('SIGKILL'),
    said: () => said,
  };
}

const path = { PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin' };

/** `unshare` forks it; it is there in a moment. */
async function firstProcess({ pid }: ChildProcess): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'latin1');
    if (children.trim() !== '') return Number(children.trim());
    await sleep(10);
  }
  throw new Error('unshare started nothing');
}
