import { mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { totalmem } from 'node:os';
import type { ClickHouseAddress } from '../address.ts';
import {
  chooseSocketPath,
  clearSocketPath,
  engineFiles,
  enginePassword,
  writeAddress,
} from './files.ts';
import { createFront } from './front.ts';
import type { EngineMessage, EngineOptions } from './messages.ts';
import { StoreNames } from './names.ts';
import { takeOwnership } from './owner.ts';
import { SessionPool } from './pool.ts';

/**
 * The engine process: chDB behind HTTP, alone in its process so that an abort of the engine never
 * takes the service down, and so that other processes can use it too.
 *
 * Ending. It ends with its parent: when the channel to it closes, however that came about. It
 * ends by SIGKILL of itself, since an exit in the usual way waits for running queries (75 s were
 * seen), while whatever was acknowledged is on the disk already. Signals to the whole group
 * (a Ctrl-C at the terminal) are its parent's to judge; without a parent it ends on them.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as EngineOptions;
const username = 'weir';
const database = 'weir';

function end(): void {
  process.kill(process.pid, 'SIGKILL');
}

function tell(message: EngineMessage): void {
  if (process.connected) process.send?.(message, () => {});
}

function memoryArgument(): string {
  const bytes = options.memoryBytesMax ?? Math.min(totalmem() / 2, 4 * 1024 ** 3);
  return `--max_server_memory_usage=${Math.floor(bytes)}`;
}

async function start(): Promise<void> {
  process.umask(0o077);
  const files = engineFiles(options.dataDir);
  mkdirSync(files.root, { recursive: true });
  const ownership = await takeOwnership(files.lock, options.ownerWaitMs ?? 10_000);
  if (ownership === null) {
    throw new Error(`another engine is running on ${files.root}; one directory has one engine`);
  }
  const pool = await SessionPool.open({ store: files.store, args: [memoryArgument()] });
  const password = enginePassword(options.dataDir);
  const names = new StoreNames(files.store);
  const front = createFront(pool, { username, password, synced: () => names.sync() });
  // Held for as long as the front lives: let go of, the lock would be collected with it.
  front.once('close', () => ownership.release());
  const place = await listen(front);
  const address: ClickHouseAddress = { ...place, username, password, database };
  writeAddress(options.dataDir, address);
  tell({ kind: 'ready', address });
}

async function listen(front: ReturnType<typeof createFront>) {
  const listening = (where: { path: string } | { host: string; port: number }) =>
    new Promise<void>((resolve, reject) => {
      front.once('error', reject);
      front.listen(where, resolve);
    });
  if (options.listen === undefined) {
    const socketPath = chooseSocketPath(options.dataDir);
    clearSocketPath(socketPath);
    await listening({ path: socketPath });
    return { url: 'http://engine', socketPath };
  }
  const url = new URL(`http://${options.listen}`);
  const host = url.hostname.replace(/^\[|\]$/g, '');
  await listening({ host, port: Number(url.port || 80) });
  const { port } = front.address() as AddressInfo;
  return { url: `http://${url.hostname}:${port}` };
}

const hasParent = process.send !== undefined;
if (hasParent) process.once('disconnect', end);
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.on(signal, () => {
    if (!hasParent) end();
  });
}
start().catch((error: Error) => {
  const message: EngineMessage = { kind: 'failed', reason: error.message };
  console.error(error.message);
  if (hasParent && process.connected) process.send?.(message, () => process.exit(1));
  else process.exit(1);
});
