import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import type { PeerOptions } from '../peers/main.ts';
import type { StoreOptions } from '../peers/store.ts';
import { sharedMinio } from '../world/stores.ts';
import { fields } from '../world/weir.ts';
import type { Started, World } from '../world/world.ts';
import type { Taker } from './taker.ts';

let started = 0;

/** The ordinary service on MinIO (`bench/peers/service.ts`). */
export function fastifyOnMinio(world: World): Promise<Taker> {
  return world.once('fastify on minio', () => startFastifyOnMinio(world));
}

/** The same, as a process of its own. */
export async function startFastifyOnMinio(world: World): Promise<Started<Taker>> {
  const minio = await sharedMinio(world);
  const { host, port, accessKey, secretKey, bucket } = await minio.bucket('fastify');
  const store: StoreOptions = { kind: 'minio', host, port, accessKey, secretKey, bucket };
  return startPeer(world, `minio-${started++}`, store, async (id) =>
    buffer(await minio.client().getObject(bucket, id)),
  );
}

/** The ordinary service on files. */
export async function fastifyOnFiles(world: World): Promise<Taker> {
  const directory = join(await world.directory('fastify'), 'bodies');
  return world.once('fastify on files', () =>
    startPeer(world, 'files', { kind: 'files', directory }, (id) =>
      readFile(join(directory, new Date().toISOString().slice(0, 10), id)),
    ),
  );
}

async function startPeer(
  world: World,
  name: string,
  store: StoreOptions,
  read: (id: string) => Promise<Buffer>,
): Promise<Started<Taker>> {
  const accessKey = formatKey('live', randomBytes(keyRandomBytes));
  const ledger = join(await world.directory(`ledger-${name}`), 'ledger.db');
  const required = fields.filter((field) => field.required !== false).map((field) => field.name);
  const options: PeerOptions = { store, ledger, accessKey, required };
  const entry = fileURLToPath(new URL('../peers/main.ts', import.meta.url));
  const child = fork(entry, [JSON.stringify(options)], {
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, NODE_ENV: 'production' },
  });
  const ended = once(child, 'exit');
  const early = ended.then(() => Promise.reject(new Error('the service ended at its start')));
  const [message] = await Promise.race([once(child, 'message'), early]);
  early.catch(() => {});
  const { port } = message as { port: number };
  return {
    value: {
      target: { kind: 'ingest', port, keys: [accessKey] },
      pid: child.pid!,
      stored: ({ text }) => read((JSON.parse(text) as { artifact_id: string }).artifact_id),
    },
    async stop() {
      child.kill('SIGKILL');
      await ended;
    },
  };
}
