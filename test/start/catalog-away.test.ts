import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import { openParts } from '../../src/start/parts.ts';
import { readSettings } from '../../src/start/settings.ts';
import type { Surroundings } from '../../src/start/surroundings.ts';
import { describeWith } from '../support/need.ts';
import { postgresOrSkip, startPostgres } from '../support/postgres.ts';

describeWith('a start without Postgres', await postgresOrSkip(), (bin) => {
  test('waits for it', { timeout: 60_000 }, async () => {
    const dataDir = await mkdtemp(join(tmpdir(), 'weir-catalog-away-'));
    onTestFinished(() => rm(dataDir, { recursive: true }));
    const postgres = await startPostgres(bin);
    onTestFinished(() => postgres.stop());
    const settings = readSettings({
      ...{ WEIR_DATA_DIR: dataDir, WEIR_CATALOG_URL: await postgres.database() },
      ...{ WEIR_CLICKHOUSE_URL: 'http://a:b@127.0.0.1:1/db', WEIR_SECRET_KEY: 'ab'.repeat(32) },
    });
    await postgres.kill();
    const lines: string[] = [];
    const log = pino({}, { write: (line: string) => void lines.push(line) });
    const closings: (() => Promise<unknown>)[] = [];
    onTestFinished(async () => {
      for (const close of closings.reverse()) await close();
    });
    // Nothing but the catalog is opened before it is asked for.
    const around = {} as Surroundings;
    const opening = openParts(settings, log, around, (close) => closings.push(close));
    const waits = () => expect(lines.join('')).toContain('the catalog is not ready yet');
    await vi.waitFor(waits, { timeout: 20_000 });
    await postgres.restart();
    const { catalog } = await opening;
    await catalog.ping();
  });
});
