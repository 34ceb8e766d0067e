import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startEngineApart } from '../../support/engine-apart.ts';
import { type Minio, startMinio } from '../../support/minio.ts';
import { type Postgres, postgresOrSkip, startPostgres } from '../../support/postgres.ts';
import { type Redis, startRedis } from '../../support/redis.ts';
import { freePort } from '../../support/server-process.ts';

/** All that a service keeps nothing of itself with. */
export interface Servers {
  readonly postgres: Postgres;
  readonly minio: Minio;
  readonly redis: Redis;
  readonly engine: Awaited<ReturnType<typeof startEngineApart>>;
  readonly catalogUrl: string;
  /** The engine's data directory. */
  readonly engineDir: string;
  /** Of the service. */
  readonly settings: Readonly<Record<string, string>>;
  /** @param dump where the catalog is written to first; null: it is not */
  stop(dump: string | null): Promise<void>;
}

/** @param dir the engine and MinIO keep their data below it */
export async function startServers(dir: string): Promise<Servers> {
  const bin = await postgresOrSkip();
  if (bin.have === null) throw new Error(bin.reason);
  const engineDir = join(dir, 'engine');
  const [postgres, minio, redis, engine] = await Promise.all([
    startPostgres(bin.have),
    startMinio({ dir: join(dir, 'minio') }),
    startRedis(),
    startEngineApart(engineDir, `127.0.0.1:${await freePort()}`),
  ]);
  const catalogUrl = await postgres.database();
  return {
    ...{ postgres, minio, redis, engine, catalogUrl, engineDir },
    settings: {
      ...{ WEIR_CATALOG_URL: catalogUrl, WEIR_REDIS_URL: redis.url },
      ...{ WEIR_CLICKHOUSE_URL: engine.url, WEIR_SECRET_KEY: randomBytes(32).toString('hex') },
    },
    async stop(dump) {
      if (dump) await promisify(execFile)(join(bin.have, 'pg_dump'), [catalogUrl, '-f', dump]);
      await Promise.all([postgres.stop(), minio.stop(), redis.stop(), engine.kill()]);
    },
  };
}
