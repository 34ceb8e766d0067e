import { type ChildProcess, execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { chown, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { ensureDebian } from './debian.ts';
import { type Needed, need } from './needed.ts';
import { endServer, freePort, startServer } from './server-process.ts';

const run = promisify(execFile);

/** Where the programs of Debian's Postgres are, or the reason why it cannot be had. */
export function postgresOrSkip(): Promise<Needed<string>> {
  return need('Postgres', async () => {
    const versions = '/usr/lib/postgresql';
    const there = async () => {
      const found = await readdir(versions).catch(() => []);
      return found.sort((a, b) => Number(b) - Number(a))[0];
    };
    if (!(await there())) await ensureDebian('/usr/bin/pg_lsclusters', ['postgresql']);
    const version = await there();
    if (!version) throw new Error('the package postgresql brought no server');
    return join(versions, version, 'bin');
  });
}

export interface Postgres {
  readonly port: number;
  pid(): number;
  /** The address of a database in it, for `openCatalog`; `superuser` has all rights. */
  url(database: string): string;
  /** Makes an empty database and gives its address. */
  database(): Promise<string>;
  /** Runs one statement as the superuser. */
  run(database: string, text: string): Promise<pg.QueryResult>;
  /** SIGKILL of all its processes; the data stay for a restart. */
  kill(): Promise<void>;
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** How a server is set up; for one that others reach over a network. */
export interface PostgresOptions {
  readonly host?: string;
  readonly port?: number;
  readonly settings?: Readonly<Record<string, string>>;
  /** What comes before the command, such as `ip netns exec NAME`. */
  readonly within?: readonly string[];
}

/**
 * Starts a Postgres of its own on loopback, as durable as weir demands it.
 *
 * @param bin where its programs are, from `postgresOrSkip`
 */
export async function startPostgres(bin: string, options: PostgresOptions = {}): Promise<Postgres> {
  const { host = '127.0.0.1', within = [] } = options;
  const home = await mkdtemp(join(tmpdir(), 'weir-postgres-'));
  const data = join(home, 'data');
  const owner = await ownerOf(home);
  const port = options.port ?? (await freePort());
  const init = ['-D', data, '-U', 'weir', '--auth=trust', '--encoding=UTF8', '--no-locale', '-N'];
  await run(join(bin, 'initdb'), init, { ...owner, cwd: home });
  await writeFile(join(data, 'pg_hba.conf'), 'host all all all trust\n');
  const settings = {
    ...{ listen_addresses: host, port: String(port), unix_socket_directories: '' },
    ...{ max_connections: '200', ...options.settings },
  };
  const args = ['-D', data];
  for (const [name, value] of Object.entries(settings)) args.push('-c', `${name}=${value}`);
  const url = (database: string) => `postgres://weir@${host}:${port}/${database}`;
  // A namespace is entered as root; only then is it left.
  const as = [...within, ...(within.length > 0 ? asUser(owner) : []), join(bin, 'postgres')];
  const [command, ...before] = as;
  const ready = () => answers(url('postgres'));
  const spawnAs = within.length > 0 ? {} : owner;
  const start = () =>
    startServer({
      name: 'Postgres',
      command: command!,
      args: [...before, ...args],
      ...spawnAs,
      ready,
    });
  let child: ChildProcess = await start();
  const runIn = (database: string, text: string) => runOnce(url(database), text);
  return {
    port,
    pid: () => child.pid!,
    url,
    async database() {
      const name = `weir_${randomUUID().replaceAll('-', '')}`;
      await runIn('postgres', `create database ${name}`);
      return url(name);
    },
    run: runIn,
    // At once, without a last checkpoint; its children end with it.
    kill: () => endServer(child, 'SIGQUIT'),
    restart: async () => {
      await endServer(child, 'SIGQUIT');
      child = await start();
    },
    stop: async () => {
      await endServer(child, 'SIGQUIT');
      await rm(home, { recursive: true, force: true });
    },
  };
}

function asUser({ uid, gid }: { uid?: number; gid?: number }): string[] {
  if (uid === undefined) return [];
  return ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', '--'];
}

/** Postgres refuses to run as root: it gets the user that its package made. */
async function ownerOf(home: string): Promise<{ uid?: number; gid?: number }> {
  if (process.getuid?.() !== 0) return {};
  const id = async (flag: string) => Number((await run('id', [flag, 'postgres'])).stdout.trim());
  const [uid, gid] = [await id('-u'), await id('-g')];
  await chown(home, uid, gid);
  return { uid, gid };
}

async function runOnce(connectionString: string, text: string): Promise<pg.QueryResult> {
  const client = new pg.Client({ connectionString, connectionTimeoutMillis: 1_000 });
  await client.connect();
  try {
    return await client.query(text);
  } finally {
    await client.end();
  }
}

async function answers(url: string): Promise<boolean> {
  return runOnce(url, 'select 1').then(
    () => true,
    () => false,
  );
}
