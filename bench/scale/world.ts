import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import type { ClickHouseAddress } from '../../src/samples/address.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';
import { type Postgres, postgresOrSkip, startPostgres } from '../../test/support/postgres.ts';
import { startRedis } from '../../test/support/redis.ts';
import { endServer, startServer } from '../../test/support/server-process.ts';
import { type Loader, sharedLoader } from '../load/loader.ts';
import type { Target } from '../load/messages.ts';
import { childrenOf } from '../world/processes.ts';
import { type BenchMinio, sharedMinio } from '../world/stores.ts';
import { makeCompany, makeSource, unlimited } from '../world/weir.ts';
import type { World } from '../world/world.ts';
import { type Parts, withChildren } from './cpu.ts';

const launcher = fileURLToPath(new URL('../../src/start/weir', import.meta.url));

/** Deliveries of a run are spread over so many sources. */
const sourceCount = 8;

/** All stores of a service of several nodes, on this machine. */
export interface Stores {
  readonly postgres: Postgres;
  readonly minio: BenchMinio;
  readonly loader: Loader;
  readonly engine: ClickHouseAddress;
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
  /** Name of the catalog's database. */
  readonly database: string;
  readonly keys: { readonly push: readonly string[]; readonly document: readonly string[] };
  /** Of the environment of each process. */
  readonly settings: Readonly<Record<string, string>>;
  readonly parts: Parts<StorePart>;
}

export type StorePart = 'postgres' | 'minio' | 'redis' | 'engine' | 'loader';

export async function startStores(world: World): Promise<Stores> {
  const postgres = await world.once('postgres', async () => {
    const { have, reason } = await postgresOrSkip();
    if (have === null) throw new Error(reason);
    const value = await startPostgres(have);
    return { value, stop: () => value.stop() };
  });
  const redis = await world.once('redis', async () => {
    const value = await startRedis();
    return { value, stop: () => value.stop() };
  });
  const [minio, loader] = [await sharedMinio(world), await sharedLoader(world)];
  const { pid: engine, address } = await startEngine(world);
  const url = await postgres.database();
  const catalog = await world.once('catalog', async () => {
    const value = await openCatalog(url, { thread: false });
    return { value, stop: () => value.close() };
  });
  const artifacts = await world.once('artifacts', async () => {
    const value = openArtifacts(minio.url(bucket));
    // Makes the bucket, so that no two processes do.
    await value.prepare();
    return { value, stop: () => value.close() };
  });
  const settings = {
    ...unlimited,
    WEIR_CATALOG_URL: url,
    WEIR_CLICKHOUSE_URL: withCredentials(address),
    WEIR_ARTIFACTS_URL: minio.url(bucket),
    WEIR_REDIS_URL: redis.url,
    WEIR_SECRET_KEY: randomBytes(32).toString('hex'),
  };
  const pids = { redis: ownChild('redis-server'), loader: loader.pid, minio: minio.pid };
  const parts: Stores['parts'] = {
    postgres: () => withChildren(postgres.pid()),
    minio: () => withChildren(pids.minio),
    redis: () => withChildren(pids.redis),
    engine: () => withChildren(engine),
    loader: () => withChildren(pids.loader),
  };
  const database = new URL(url).pathname.slice(1);
  const keys = await makeKeys(catalog);
  return {
    ...{ postgres, minio, loader, engine: address, catalog, artifacts, database },
    ...{ keys, settings, parts },
  };
}

const bucket = 'scale';

async function makeKeys(catalog: Catalog): Promise<Stores['keys']> {
  const companyId = await makeCompany(catalog);
  const keys = { push: [] as string[], document: [] as string[] };
  for (const way of ['push', 'document'] as const) {
    while (keys[way].length < sourceCount) {
      keys[way].push((await makeSource(catalog, companyId, way)).key);
    }
  }
  return keys;
}

async function startEngine(world: World) {
  const dataDir = await world.directory('scale-engine');
  return world.once('scale engine', async () => {
    const [port] = await freePorts(1);
    const child = await startServer({
      name: 'weir engine',
      command: launcher,
      args: ['engine', '--listen', `127.0.0.1:${port}`],
      env: environment({ WEIR_DATA_DIR: dataDir, WEIR_LOG_LEVEL: 'warn' }),
      ready: () => answers(`http://127.0.0.1:${port}/ping`),
    });
    const value = { pid: child.pid!, address: openEngineAddress(dataDir) };
    return { value, stop: () => endServer(child, 'SIGTERM') };
  });
}

/** A service of so many processes, and how to send to it. */
export interface RunningService {
  readonly target: Extract<Target, { kind: 'ingest' }>;
  /** Processes that do the work; without the one that only watches over several. */
  readonly workers: readonly number[];
  readonly parts: Parts<WeirPart>;
  isRunning(): boolean;
  stop(): Promise<void>;
}

/** The thread of the event loop, the threads beside it, and the process over several. */
export type WeirPart = 'weirMain' | 'weirThreads' | 'supervisor';

export async function startWeir(
  world: World,
  stores: Pick<Stores, 'settings' | 'keys'>,
  { processes, roles }: { readonly processes: number; readonly roles: string },
): Promise<RunningService> {
  const [api, app, ops] = await freePorts(3);
  const dataDir = await world.directory(`scale-${api}`);
  const child = await startServer({
    name: 'weir serve',
    command: launcher,
    args: ['serve', '--processes', String(processes), '--roles', roles],
    env: environment({
      ...stores.settings,
      WEIR_DATA_DIR: dataDir,
      WEIR_LISTEN: `127.0.0.1:${api}`,
      WEIR_APP_LISTEN: `127.0.0.1:${app}`,
      WEIR_OPS_LISTEN: `127.0.0.1:${ops}`,
    }),
    ready: () => answers(`http://127.0.0.1:${ops}/readyz`),
  });
  const pid = child.pid!;
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream!.on('data', (bytes) => {
      said = `${said}${bytes}`.slice(-4_000);
    });
  }
  child.once('exit', (code, signal) => {
    if (signal !== 'SIGTERM' && code !== 0) console.error(`weir ended: ${code ?? signal} ${said}`);
  });
  const workers = processes === 1 ? [pid] : childrenOf(pid);
  const of = (which: 'main' | 'others') => () => workers.map((one) => ({ pid: one, which }));
  const supervisor = () => (processes === 1 ? [] : [{ pid, which: 'all' as const }]);
  return {
    target: { kind: 'ingest', port: api!, keys: stores.keys.push },
    workers,
    parts: { weirMain: of('main'), weirThreads: of('others'), supervisor },
    isRunning: () => child.exitCode === null && child.signalCode === null,
    stop: () => endServer(child, 'SIGTERM'),
  };
}

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('WEIR_'));
  return { ...Object.fromEntries(clean), ...settings };
}

function withCredentials({ url, username, password, database }: ClickHouseAddress): string {
  const address = new URL(url);
  address.username = username;
  address.password = password;
  address.pathname = `/${database}`;
  return address.href;
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

/** A server that was started by somebody who keeps its process id. */
function ownChild(name: string): number {
  const found = childrenOf(process.pid).find((pid) => {
    return readFileSync(join('/proc', String(pid), 'comm'), 'latin1').trim() === name;
  });
  if (found === undefined) throw new Error(`${name} is no child of this process`);
  return found;
}
