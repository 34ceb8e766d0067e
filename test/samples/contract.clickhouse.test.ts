import { randomBytes } from 'node:crypto';
import { describe } from 'vitest';
import { addressFromUrl } from '../../src/samples/address.ts';
import { sampleStoreContract } from '../contract/samples.ts';

const url = process.env.WEIR_TEST_CLICKHOUSE_URL;
if (url === undefined) {
  // No registry within reach of a build holds a current server; the engine runs the same suite.
  console.log('skipped: the sample store on a ClickHouse server; set WEIR_TEST_CLICKHOUSE_URL');
}

describe.skipIf(url === undefined)('the sample store on a ClickHouse server', () => {
  sampleStoreContract(async () => {
    const database = `weir_test_${randomBytes(6).toString('hex')}`;
    return { ...addressFromUrl(url!), database };
  });
});
