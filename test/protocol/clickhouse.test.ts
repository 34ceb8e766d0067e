import { randomBytes } from 'node:crypto';
import { afterAll, describe } from 'vitest';
import { addressFromUrl } from '../../src/samples/address.ts';
import { connect } from '../../src/samples/client.ts';
import { layoutOf } from '../../src/samples/layout.ts';
import { TestWeir } from '../support/test-weir.ts';
import { protocolSuite } from './suite.ts';

/** A server, or with `?cluster=NAME` a cluster; no registry within reach holds a current one. */
const given = process.env.WEIR_TEST_CLICKHOUSE_URL;

describe.skipIf(given === undefined)('with WEIR_TEST_CLICKHOUSE_URL', () => {
  const url = new URL(given ?? 'http://none');
  url.pathname = `/weir_test_${randomBytes(6).toString('hex')}`;
  protocolSuite('weir on files and a ClickHouse server', () =>
    TestWeir.start({ WEIR_CLICKHOUSE_URL: url.href }),
  );
  afterAll(async () => {
    const address = addressFromUrl(url.href);
    const client = connect(address, null);
    const { everywhere } = layoutOf(address);
    await client.command({
      query: `DROP DATABASE IF EXISTS ${address.database}${everywhere} SYNC`,
    });
    await client.close();
  });
});
