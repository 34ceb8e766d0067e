import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startEngineApart } from '../support/engine-apart.ts';
import { minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { type Postgres, postgresOrSkip, startPostgres } from '../support/postgres.ts';
import { accepted, type Sender } from '../support/sender.ts';
import { freePort } from '../support/server-process.ts';
import { TestWeir } from '../support/test-weir.ts';
import { deployFile } from './deploy-files.ts';

const run = promisify(execFile);
const [minio, postgres] = [await minioOrSkip(), await postgresOrSkip()];
const programs = fileURLToPath(new URL('../../node_modules/.bin', import.meta.url));

/** The commands that OPERATIONS.md has behind a mark. */
function commandsOf(mark: string): string {
  const after = deployFile('OPERATIONS.md').split(`<!-- ${mark} -->`)[1];
  const block = /```sh\n([\s\S]*?)```/.exec(after ?? '')?.[1];
  if (block === undefined) throw new Error(`OPERATIONS.md has no commands behind ${mark}`);
  return block;
}

describeWith('with MinIO', minio, () => {
  describeWith('and Postgres, the commands of OPERATIONS.md', postgres, (bin) => {
    let weir: TestWeir;
    let server: Postgres;
    let directory: string;
    let sender: Sender;
    const url = () => weir.running.place.settings!.WEIR_CATALOG_URL!;
    const shell = (script: string) =>
      run('sh', ['-euc', script], {
        cwd: directory,
        env: { ...weir.running.env(), PATH: `${bin}:${programs}:${process.env.PATH}` },
      });
    const push = (amount: number) =>
      sender.push(
        { day: `2026-01-${`${amount}`.padStart(2, '0')}`, amount: `${amount}` },
        `k${amount}`,
      );
    const amounts = async () =>
      (await sender.samples('from=2026-01-01&to=2026-02-01')).samples.map(({ value }) => value);

    const stops: (() => Promise<unknown>)[] = [];

    beforeAll(async () => {
      directory = await mkdtemp(join(tmpdir(), 'weir-operations-'));
      stops.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
      const store = await startMinio();
      stops.push(store.stop);
      server = await startPostgres(bin);
      stops.push(server.stop);
      const engine = await startEngineApart(directory, `127.0.0.1:${await freePort()}`);
      stops.push(engine.kill);
      weir = await TestWeir.start({
        WEIR_ARTIFACTS_URL: store.url('operations'),
        WEIR_CATALOG_URL: await server.database(),
        WEIR_CLICKHOUSE_URL: engine.url,
        WEIR_SECRET_KEY: randomBytes(32).toString('hex'),
      });
      stops.push(() => weir.stop());
      ({ sender } = await weir.source());
    });

    afterAll(async () => {
      for (const stop of stops.reverse()) await stop();
    });

    test('bring a catalog back, and all that was delivered after its dump', {
      timeout: 120_000,
    }, async () => {
      const before = [await push(1), await push(2)];
      for (const receipt of before) await sender.settled(receipt);
      await shell(commandsOf('dump'));
      const after = [await push(3), await push(4)];
      for (const receipt of after) await sender.settled(receipt);
      await weir.running.end();
      const name = new URL(url()).pathname.slice(1);
      await server.run('postgres', `drop database ${name} with (force)`);
      await server.run('postgres', `create database ${name}`);
      const [restored, ...rest] = commandsOf('restore').split('weir recover');
      await shell(restored!);
      await weir.running.start();
      expect((await push(5)).status).toBe(503);
      const { stdout } = await shell(`weir recover${rest.join('weir recover')}`);
      expect(stdout).toMatch(/recovered/);
      expect((await push(5)).status).toBe(202);
      await sender.settled(await push(5));
      expect(await amounts()).toEqual(['5', '4', '3', '2', '1']);
      const again = [await push(1), await push(2), await push(3), await push(4)];
      expect(again.map(accepted)).toEqual([...before, ...after].map(accepted));
    });

    test('refuse an old version on a newer schema, which stays as it is', async () => {
      const name = new URL(url()).pathname.slice(1);
      const insert = `insert into catalog_migrations values (1000, 'of a newer one', 0)`;
      await server.run(name, insert);
      try {
        // It ends before it listens anywhere.
        await expect(shell('weir serve')).rejects.toThrow(/a newer weir has used it/);
      } finally {
        await server.run(name, 'delete from catalog_migrations where number = 1000');
      }
      expect((await amounts()).length).toBe(5);
    });
  });
});
