import { createHash, randomBytes } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { ClickHouseAddress } from '../address.ts';

/** The files that the embedded engine keeps in a data directory. */
export function engineFiles(dataDir: string) {
  const root = resolve(dataDir);
  return {
    root,
    store: join(root, 'clickhouse'),
    lock: join(root, 'engine.lock'),
    address: join(root, 'engine.json'),
    socket: join(root, 'engine.sock'),
  };
}

/** The kernel holds a socket's path in 108 bytes, the last of them a zero (unix(7)). */
const socketPathBytesMax = 107;

/**
 * Says where the engine's socket file goes: into the data directory, or, when that path is too
 * long, into a directory of this user's own below the machine's temporary one.
 *
 * @throws Error when neither path is short enough
 */
export function chooseSocketPath(dataDir: string): string {
  const { root, socket } = engineFiles(dataDir);
  if (Buffer.byteLength(socket) < socketPathBytesMax) return socket;
  const name = createHash('sha256').update(root).digest('hex').slice(0, 16);
  // A name of its own for each user, made private: nobody else can put a socket there first.
  const folder = join(tmpdir(), `weir-${process.getuid?.() ?? 0}-${name}`);
  const elsewhere = join(folder, 'engine.sock');
  if (Buffer.byteLength(elsewhere) >= socketPathBytesMax) {
    throw new Error(`no path under ${socketPathBytesMax} bytes for the engine's socket`);
  }
  return elsewhere;
}

/** Whether an address file exists, and what it says; null when there is none. */
export function readAddress(dataDir: string): ClickHouseAddress | null {
  const { address } = engineFiles(dataDir);
  let text: string;
  try {
    text = readFileSync(address, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  return JSON.parse(text) as ClickHouseAddress;
}

/**
 * Writes the address file, for this user only, in one step. One that says the same stays as it is:
 * an engine that starts again needs no room on the disk for it.
 *
 * @throws Error in one line when it cannot be written
 */
export function writeAddress(dataDir: string, address: ClickHouseAddress): void {
  if (isDeepStrictEqual(readAddress(dataDir), address)) return;
  const path = engineFiles(dataDir).address;
  const fresh = `${path}.${process.pid}`;
  try {
    writeFileSync(fresh, `${JSON.stringify(address, null, 2)}\n`, { mode: 0o600, flush: true });
    renameSync(fresh, path);
  } catch (cause) {
    rmSync(fresh, { force: true });
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`the engine's address cannot be written to ${path}: ${why}`, { cause });
  }
}

/** The password that this data directory's engine always had, or a new one. */
export function enginePassword(dataDir: string): string {
  return readAddress(dataDir)?.password ?? randomBytes(24).toString('base64url');
}

/**
 * Makes the way free for a new socket file; only the owner of the directory may call it.
 *
 * @throws Error when the folder belongs to another user, who could then answer in our place
 */
export function clearSocketPath(path: string): void {
  const folder = dirname(path);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const owner = lstatSync(folder).uid;
  if (owner !== process.getuid?.()) throw new Error(`${folder} belongs to another user (${owner})`);
  rmSync(path, { force: true });
}
