import { type ChildProcess, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureDebian } from '../support/debian.ts';
import { startEngineApart } from '../support/engine-apart.ts';
import type { Scraped } from '../support/metrics-of.ts';
import { ensureMinio } from '../support/minio.ts';
import { postgresOrSkip, startPostgres } from '../support/postgres.ts';
import { endServer, startServer } from '../support/server-process.ts';
import { type Host, Network } from './network.ts';

const launcher = fileURLToPath(new URL('../../src/start/weir', import.meta.url));
const proxyConfig = fileURLToPath(new URL('../../deploy/haproxy.cfg', import.meta.url));
const ports = { api: 8080, app: 8081, ops: 8082, postgres: 5432, redis: 6379, minio: 9000 };
const enginePort = 8123;

/** Something of the cluster that can go: its process, or its cable. */
export interface Part {
  readonly name: string;
  /** SIGKILL, and started again. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/** A weir of the cluster. */
export interface ClusterNode extends Part, Scraped {
  readonly url: string;
}

export interface Cluster {
  /** Of HAProxy. */
  readonly url: string;
  readonly proxy: Part;
  readonly nodes: readonly ClusterNode[];
  readonly postgres: Part;
  readonly redis: Part;
  readonly minio: Part;
  readonly engine: Part;
  readonly catalogUrl: string;
  readonly artifactsUrl: string;
  /** Of the engine's host. */
  readonly engineDir: string;
  readonly secretKey: string;
  stop(): Promise<void>;
}

/**
 * Starts a cluster, each part on a host of its own: weirs behind HAProxy, Postgres, Redis, MinIO
 * and the embedded engine alone.
 */
export async function startCluster(
  count: number,
  settings: Readonly<Record<string, string>> = {},
): Promise<Cluster> {
  const network = await Network.make();
  const home = await mkdtemp(join(tmpdir(), 'weir-hosts-'));
  const stops: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const one of stops.splice(0).reverse()) await one();
    network.remove();
    await rm(home, { recursive: true, force: true, maxRetries: 20 });
  };
  try {
    const place: Place = { network, home, onStop: (one) => stops.push(one) };
    const postgres = await postgresPart(place);
    const [redis, minio, engine] = [
      await redisPart(place),
      await minioPart(place),
      await enginePart(place),
    ];
    const secretKey = randomBytes(32).toString('hex');
    const proxyHost = await network.host('lb');
    const shared = {
      ...{ WEIR_CATALOG_URL: postgres.url, WEIR_ARTIFACTS_URL: minio.url },
      ...{ WEIR_REDIS_URL: redis.url, WEIR_CLICKHOUSE_URL: engine.url },
      ...{ WEIR_SECRET_KEY: secretKey, WEIR_TRUSTED_PROXIES: proxyHost.address },
    };
    const nodes: ClusterNode[] = [];
    for (let i = 0; i < count; i++) {
      nodes.push(await weirPart(place, `n${i}`, { ...shared, ...settings }));
    }
    const proxy = await proxyPart(place, proxyHost, nodes);
    return {
      ...{ url: `http://${proxyHost.address}:${ports.api}`, proxy, nodes, postgres, redis },
      ...{ minio, engine, catalogUrl: postgres.url, artifactsUrl: minio.url },
      ...{ engineDir: engine.dir, secretKey, stop },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

interface Place {
  readonly network: Network;
  readonly home: string;
  onStop(stop: () => Promise<unknown>): void;
}

interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env?: NodeJS.ProcessEnv;
  ready(): Promise<boolean>;
}

/** A program on a host. */
async function partOf(place: Place, name: string, host: Host, program: Program): Promise<Part> {
  const [command, ...before] = [...host.within, program.command];
  const start = () =>
    startServer({ ...program, name, command: command!, args: [...before, ...program.args] });
  let child: ChildProcess = await start();
  place.onStop(() => endServer(child));
  return {
    ...{ name, cut: host.cut, mend: host.mend },
    kill: () => endServer(child),
    async restart() {
      await endServer(child);
      child = await start();
    },
  };
}

async function postgresPart(place: Place): Promise<Part & { url: string }> {
  const bin = await postgresOrSkip();
  if (bin.have === null) throw new Error(bin.reason);
  const host = await place.network.host('pg');
  const server = await startPostgres(bin.have, {
    ...{ host: host.address, port: ports.postgres, within: host.within },
  });
  place.onStop(() => server.stop());
  const url = await server.database();
  const { kill, restart } = server;
  return { name: 'Postgres', url, kill, restart, cut: host.cut, mend: host.mend };
}

async function redisPart(place: Place): Promise<Part & { url: string }> {
  const command = await ensureDebian('/usr/bin/redis-server', ['redis-server']);
  const host = await place.network.host('rd');
  const { address } = host;
  const quiet = ['--save', '', '--appendonly', 'no', '--dir', place.home, '--protected-mode', 'no'];
  const part = await partOf(place, 'Redis', host, {
    command,
    args: ['--bind', address, '--port', String(ports.redis), ...quiet],
    ready: () => listens(host, ports.redis),
  });
  return { ...part, url: `redis://${address}:${ports.redis}` };
}

async function minioPart(place: Place): Promise<Part & { url: string }> {
  const command = await ensureMinio();
  const host = await place.network.host('s3');
  const { address } = host;
  const at = `${address}:${ports.minio}`;
  const part = await partOf(place, 'MinIO', host, {
    command,
    args: ['server', '--quiet', '--address', at, join(place.home, 'minio')],
    env: {
      ...{ PATH: process.env.PATH, HOME: place.home, MINIO_BROWSER: 'off', MINIO_UPDATE: 'off' },
      ...{ MINIO_ROOT_USER: 'admin', MINIO_ROOT_PASSWORD: 'adminadmin', MINIO_CI_CD: 'on' },
    },
    ready: () => answers(`http://${at}/minio/health/cluster`),
  });
  return { ...part, url: `s3+http://admin:adminadmin@${at}/weir` };
}

async function enginePart(place: Place): Promise<Part & { url: string; dir: string }> {
  const host = await place.network.host('ch');
  const dir = join(place.home, 'engine');
  const listen = `${host.address}:${enginePort}`;
  const { url, kill, restart } = await startEngineApart(dir, listen, host.within);
  place.onStop(kill);
  return { name: 'the engine', url, dir, kill, restart, cut: host.cut, mend: host.mend };
}

async function weirPart(
  place: Place,
  name: string,
  settings: Readonly<Record<string, string>>,
): Promise<ClusterNode> {
  const host = await place.network.host(name);
  const at = (port: number) => `${host.address}:${port}`;
  const opsUrl = `http://${at(ports.ops)}`;
  const part = await partOf(place, name, host, {
    command: launcher,
    args: ['serve'],
    env: environment({
      WEIR_DATA_DIR: join(place.home, name),
      ...{ WEIR_LISTEN: at(ports.api), WEIR_APP_LISTEN: at(ports.app) },
      ...{ WEIR_OPS_LISTEN: at(ports.ops), WEIR_LOG_LEVEL: 'error', ...settings },
    }),
    ready: () => answers(`${opsUrl}/readyz`),
  });
  return { ...part, url: `http://${at(ports.api)}`, opsUrl, isRunning: true };
}

/** The configuration of the deployment, with these nodes and without certificates. */
async function proxyPart(place: Place, host: Host, nodes: readonly ClusterNode[]): Promise<Part> {
  const command = await ensureDebian('/usr/sbin/haproxy', ['haproxy']);
  const hosts = nodes.map((node) => new URL(node.url).hostname);
  const servers = (port: string, more: string) =>
    hosts.map((address, i) => `  server n${i} ${address}:${port}${more}`).join('\n');
  const config = (await readFile(proxyConfig, 'utf8'))
    .replaceAll(/^ {2}server-template \S+ \S+ weir:(\d+)(.*)$/gm, (_, port, more) =>
      servers(port, more),
    )
    .replaceAll(/^resolvers [\s\S]*?\n\n/gm, '')
    .replaceAll(/ resolvers docker| init-addr none| resolve-prefer ipv4/g, '')
    .replaceAll(/^ {2}bind \S+ ssl .*\n/gm, '')
    // Two files each; not every machine lets a process open so many.
    .replace('maxconn 20000', 'maxconn 2000')
    .replaceAll('stdout format raw local0 info', 'stdout format raw local0 err');
  const file = join(place.home, 'haproxy.cfg');
  await writeFile(file, config);
  const url = `http://${host.address}:${ports.api}`;
  return partOf(place, 'HAProxy', host, {
    command,
    args: ['-db', '-f', file],
    // Through to a node that it has found ready.
    ready: () => answers(`${url}/openapi.json`),
  });
}

function environment(settings: Readonly<Record<string, string>>): NodeJS.ProcessEnv {
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('WEIR_'));
  return { ...Object.fromEntries(clean), ...settings };
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(1_000) }).then(
    async (answer) => {
      await answer.arrayBuffer();
      return answer.ok;
    },
    () => false,
  );
}

async function listens(host: Host, port: number): Promise<boolean> {
  const [command, ...before] = host.within;
  try {
    execFileSync(command!, [
      ...before,
      'redis-cli',
      '-h',
      host.address,
      '-p',
      String(port),
      'ping',
    ]);
    return true;
  } catch {
    return false;
  }
}
