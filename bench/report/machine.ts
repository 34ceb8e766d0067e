import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { arch, cpus, release, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What the figures were measured on, and with. */
export interface Machine {
  readonly cpu: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly kernel: string;
  /** Processes that wanted to run, on average over the minute before: others use the machine. */
  readonly loadBefore: number;
  readonly versions: Readonly<Record<string, string>>;
}

/** Packages whose versions decide figures. */
const packages = [
  ...['uWebSockets.js', 'better-sqlite3', 'chdb', 'udsv', 'fastify', 'minio', 'autocannon'],
] as const;

export function describeMachine(): Machine {
  const all = cpus();
  const installed = packages.map((name) => [name, packageVersion(name)] as const);
  return {
    cpu: all[0]?.model ?? 'unknown',
    cores: all.length,
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    kernel: `Linux ${release()} ${arch()}`,
    loadBefore: Number(readFileSync('/proc/loadavg', 'utf8').split(' ')[0]),
    versions: { node: process.versions.node, ...Object.fromEntries(installed) },
  };
}

/** The commit that is checked out, marked where files differ from it. */
export function commitOf(): string {
  const git = (...args: string[]) => execFileSync('git', args, { cwd: root }).toString().trim();
  const dirty = git('status', '--porcelain', '--untracked-files=no') !== '';
  return git('rev-parse', '--short=12', 'HEAD') + (dirty ? ' with changes' : '');
}

function packageVersion(name: string): string {
  const path = `${root}node_modules/${name}/package.json`;
  return (JSON.parse(readFileSync(path, 'utf8')) as { version: string }).version;
}
