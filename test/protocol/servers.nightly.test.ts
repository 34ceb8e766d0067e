import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { startEngineApart } from '../support/engine-apart.ts';
import { minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { postgresOrSkip, startPostgres } from '../support/postgres.ts';
import { redisOrSkip, startRedis } from '../support/redis.ts';
import { freePort } from '../support/server-process.ts';
import { TestWeir } from '../support/test-weir.ts';
import { protocolSuite } from './suite.ts';

const [minio, postgres, redis] = [await minioOrSkip(), await postgresOrSkip(), await redisOrSkip()];

/** Everything that may be a server of its own is one. */
describeWith('with MinIO', minio, () => {
  describeWith('and Postgres', postgres, (bin) => {
    describeWith('and Redis', redis, () => {
      const stops: (() => Promise<unknown>)[] = [];
      protocolSuite('weir on Postgres, MinIO, Redis and an engine apart', async () => {
        const dir = await mkdtemp(join(tmpdir(), 'weir-engine-'));
        stops.push(() => rm(dir, { recursive: true, force: true, maxRetries: 20 }));
        const store = await startMinio();
        stops.push(store.stop);
        const catalog = await startPostgres(bin);
        stops.push(catalog.stop);
        const rates = await startRedis();
        stops.push(rates.stop);
        const engine = await startEngineApart(dir, `127.0.0.1:${await freePort()}`);
        stops.push(engine.kill);
        return TestWeir.start({
          WEIR_ARTIFACTS_URL: store.url('protocol'),
          WEIR_CATALOG_URL: await catalog.database(),
          WEIR_CLICKHOUSE_URL: engine.url,
          WEIR_REDIS_URL: rates.url,
          WEIR_SECRET_KEY: randomBytes(32).toString('hex'),
        });
      });
      afterAll(async () => {
        for (const stop of stops.reverse()) await stop();
      });
    });
  });
});
