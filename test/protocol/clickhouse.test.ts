import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { addressFromUrl } from '../../src/samples/address.ts';
import { connect } from '../../src/samples/client.ts';
import { layoutOf } from '../../src/samples/layout.ts';
import { TestWeir } from '../support/test-weir.ts';
import { protocolSuite } from './suite.ts';

/** A server, or with `?cluster=NAME` a cluster; no registry within reach holds a current one. */
const given = process.env.WEIR_TEST_CLICKHOUSE_URL;

describe.skipIf(given === undefined)('with WEIR_TEST_CLICKHOUSE_URL', () => {
  const databases: URL[] = [];
  function database(): string {
    const url = new URL(given ?? 'http://none');
    url.pathname = `/weir_test_${randomBytes(6).toString('hex')}`;
    databases.push(url);
    return url.href;
  }
  afterAll(async () => {
    for (const { href } of databases) {
      const address = addressFromUrl(href);
      const client = connect(address, null);
      const where = `${address.database}${layoutOf(address).everywhere}`;
      await client.command({ query: `DROP DATABASE IF EXISTS ${where} SYNC` });
      await client.close();
    }
  });

  protocolSuite('weir on files and a ClickHouse server', () =>
    TestWeir.start({ WEIR_CLICKHOUSE_URL: database() }),
  );

  test('a rebuild beside the service changes nothing, and verify finds that', async () => {
    const weir = await TestWeir.start({ WEIR_CLICKHOUSE_URL: database() });
    const source = await weir.source({ delivery: 'document' });
    for (const amount of ['1.50', '2', 'x']) {
      const sent = await source.sender.document(`day,amount\n2026-03-01,${amount}\n`);
      expect(sent.status).toBe(202);
    }
    const read = async () =>
      (await source.sender.get('/v1/samples?from=2026-01-01&to=2026-12-31')).text;
    await expect.poll(read, { timeout: 30_000 }).toContain('"value":"2"');
    const before = await read();
    expect(await weir.running.cli('rebuild')).toMatchObject({ swapped: true, differences: [] });
    expect(await read()).toBe(before);
    expect(await weir.running.cli('verify')).toMatchObject({ samples: 1, differences: [] });
    await weir.stop();
  }, 120_000);
});
