/**
 * Adds to package-lock.json the optional packages of other platforms that the registry in reach
 * did not show when the lock was made. Without them `npm ci` refuses the lock ("Missing: …").
 * Run after each change of the lock: `npm run lock`.
 */
import { readFileSync, writeFileSync } from 'node:fs';

interface LockEntry {
  version?: string;
  optional?: boolean;
  os?: string[];
  cpu?: string[];
  libc?: string[];
  optionalDependencies?: Record<string, string>;
}

const platforms = [
  ...['darwin', 'win32', 'linux', 'android', 'freebsd', 'openbsd', 'netbsd', 'sunos', 'aix'],
  'openharmony',
];
const cpus = ['x64', 'arm64', 'ia32', 'arm', 's390x', 'ppc64', 'riscv64', 'loong64', 'mips64el'];
const wasm = ['wasm32', 'wasi'];

const path = new URL('../../package-lock.json', import.meta.url);
const lock = JSON.parse(readFileSync(path, 'utf8')) as { packages: Record<string, LockEntry> };

/** Whether `name`, required from the package at `from`, is found as Node would find it. */
function resolves(from: string, name: string): boolean {
  for (let at = from; ; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    if (lock.packages[`${at ? `${at}/` : ''}node_modules/${name}`]) return true;
    if (!at) return false;
    if (!at.includes('/node_modules/')) at = '';
  }
}

function entryFor(name: string, range: string): LockEntry {
  const words = name.replace('@', '').split(/[/-]/);
  const isWasm = words.some((word) => wasm.includes(word));
  const cpu = isWasm ? 'wasm32' : words.find((word) => cpus.includes(word));
  return {
    version: range.replace(/^[\^~>= ]+/, ''),
    optional: true,
    os: [isWasm ? 'wasm' : (words.find((word) => platforms.includes(word)) ?? 'none')],
    ...(cpu ? { cpu: [cpu] } : {}),
    ...(words.includes('musl') ? { libc: ['musl'] } : {}),
  };
}

const added: string[] = [];
for (const [from, entry] of Object.entries(lock.packages)) {
  for (const [name, range] of Object.entries(entry.optionalDependencies ?? {})) {
    if (resolves(from, name)) continue;
    lock.packages[`node_modules/${name}`] = entryFor(name, range);
    added.push(name);
  }
}
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).sort(([a], [b]) => (a < b ? -1 : 1)),
);
writeFileSync(path, `${JSON.stringify(lock, null, 2)}\n`);
console.log(added.length ? `added ${added.join(', ')}` : 'nothing was missing');
