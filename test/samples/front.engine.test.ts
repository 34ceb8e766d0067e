import { randomUUID } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ClickHouseClient, ClickHouseError } from '@clickhouse/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { addressFromUrl, type ClickHouseAddress } from '../../src/samples/address.ts';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { connect } from '../../src/samples/client.ts';
import { encode, freshEngine, read, samplesOnly } from './support.ts';

/** The engine's HTTP interface as @clickhouse/client uses it; over TCP, like `weir engine`. */

let address: ClickHouseAddress;
let client: ClickHouseClient;
let remove: () => Promise<void>;

beforeAll(async () => {
  const fresh = await freshEngine({ listen: '127.0.0.1:0' });
  address = fresh.engine.address;
  remove = fresh.remove;
  client = connect(address, null);
});
afterAll(async () => {
  await client.close();
  await remove();
});

const rows = async <T>(query: string, params: Record<string, unknown> = {}, settings = {}) => {
  const answer = await client.query({
    ...{ query, query_params: params, clickhouse_settings: settings },
    format: 'JSONEachRow',
  });
  return await answer.json<T>();
};

const refusal = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => 'no error',
    (each: unknown) => each,
  );
  expect(error).toBeInstanceOf(ClickHouseError);
  return error as ClickHouseError;
};

describe('who may ask', () => {
  test('a URL with user and password opens the store', async () => {
    const url = new URL(address.url);
    url.username = address.username;
    url.password = address.password;
    url.pathname = '/by_url';
    const store = openSamples(addressFromUrl(url.href));
    await store.prepare();
    await store.ping();
    await store.close();
  });

  test.each([
    ['a wrong password', { password: 'wrong' }],
    ['no password', { password: '' }],
    ['another user', { username: 'default' }],
  ])('%s is refused with 516', async (_, wrong) => {
    const stranger = connect({ ...address, ...wrong }, null);
    const error = await refusal(stranger.query({ query: 'SELECT 1' }));
    expect([error.code, error.type]).toEqual(['516', 'AUTHENTICATION_FAILED']);
    await stranger.close();
    const store = openSamples({ ...address, ...wrong });
    await refusal(store.ping());
    await store.close();
  });

  test('the answer to a stranger is 401, with a challenge and the exception code', async () => {
    const answer = await fetch(`${address.url}/?query=SELECT%201`);
    expect(answer.status).toBe(401);
    expect(answer.headers.get('x-clickhouse-exception-code')).toBe('516');
    expect(answer.headers.get('www-authenticate')).toMatch(/^Basic/);
    expect(await answer.text()).toMatch(/^Code: 516\. DB::Exception: /);
    expect(await (await fetch(`${address.url}/ping`)).text()).toBe('Ok.\n');
  });
});

describe('statements', () => {
  test('600 concurrent queries each get their own parameters', async () => {
    const texts = ["it's", '\\', 'tab\tnew\nline', '{a:String}', 'ü😀', "\\'; DROP", '\0', ''];
    const ask = async (n: number) => {
      const text = `${texts[n % texts.length]}${n}`;
      const params = { a: text, n, list: [text, "'"] };
      const query = 'SELECT {a:String} AS a, {n:UInt32} AS n, {list:Array(String)} AS list';
      return { asked: [text, n, [text, "'"]], answers: await rows<typeof params>(query, params) };
    };
    const all = await Promise.all(Array.from({ length: 600 }, (_, n) => ask(n)));
    const wrong = all.filter(({ asked, answers: [answer] }) => {
      return JSON.stringify([answer?.a, answer?.n, answer?.list]) !== JSON.stringify(asked);
    });
    expect(wrong).toEqual([]);
  });

  test('a parameter that was not brought is an error, never that of an earlier query', async () => {
    const earlier = Array.from({ length: 20 }, () =>
      rows('SELECT {secret:String}', { secret: 'x' }),
    );
    await Promise.all(earlier);
    for (let n = 0; n < 10; n++) {
      const error = await refusal(rows('SELECT {secret:String} AS s', { other: '1' }));
      expect(error.code).toBe('456');
    }
  });

  test('settings hold for their statement only, and a time limit always', async () => {
    const ask = (settings = {}) =>
      rows<{ threads: string; seconds: string }>(
        `SELECT toString(getSetting('max_threads')) AS threads,
           toString(getSetting('max_execution_time')) AS seconds`,
        {},
        settings,
      );
    const [plain] = await ask();
    expect(Number(plain?.seconds)).toBe(60);
    for (let n = 0; n < 8; n++) {
      const set = await ask({ max_threads: 7, max_execution_time: 9 });
      expect(set).toEqual([{ threads: '7', seconds: '9' }]);
    }
    for (let n = 0; n < 8; n++) expect(await ask()).toEqual([plain]);
  });

  test('an unknown setting is an error, and the session is good afterwards', async () => {
    for (let n = 0; n < 6; n++) {
      const error = await refusal(rows('SELECT 1', {}, { max_threads: 3, no_such_setting: 1 }));
      expect(error.code).toBe('115');
    }
    const threads = await rows<{ t: number }>("SELECT getSetting('max_threads') AS t");
    expect(threads[0]?.t).not.toBe(3);
  });

  test('SET and USE, which would stay on a shared session, are refused', async () => {
    for (const query of ['SET max_threads = 1', '/* x */ use system']) {
      expect((await refusal(client.command({ query }))).code).toBe('48');
    }
  });

  test('errors carry their code, type and status', async () => {
    const syntax = await refusal(rows('SELEC 1'));
    expect([syntax.code, syntax.type]).toEqual(['62', 'SYNTAX_ERROR']);
    const unknown = await refusal(rows('SELECT * FROM no_such_table'));
    expect([unknown.code, unknown.type]).toEqual(['60', 'UNKNOWN_TABLE']);
    const late = await refusal(
      rows(
        'SELECT sleepEachRow(1) FROM numbers(9)',
        {},
        { max_execution_time: 1, max_block_size: 1 },
      ),
    );
    expect([late.code, late.type]).toEqual(['159', 'TIMEOUT_EXCEEDED']);
  });

  test('a slow query does not hold up a window read, nor an insert', async () => {
    const store = openSamples({ ...address, database: 'slow' });
    await store.prepare();
    const sourceId = randomUUID();
    let slowDone = false;
    const slow = rows('SELECT sleepEachRow(1) FROM numbers(3)', {}, { max_block_size: 1 }).then(
      () => {
        slowDone = true;
      },
    );
    const started = performance.now();
    const samples = [{ day: 1, value: '1' }];
    await store.insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    expect(await read(store, { sourceId })).toHaveLength(1);
    expect([slowDone, performance.now() - started < 2_000]).toEqual([false, true]);
    await slow;
    await store.close();
  });
});

describe('inserts', () => {
  test('megabytes in chunks that cut characters arrive as sent', async () => {
    await client.command({ query: 'CREATE TABLE wide (n UInt32, t String) ENGINE = Memory' });
    const text = 'żółć測試😀'.repeat(30);
    const lines = Array.from({ length: 12_000 }, (_, n) => `${n}\t${text}${n}\n`);
    const body = Buffer.from(lines.join(''));
    const chunks = Array.from({ length: Math.ceil(body.length / 10_007) }, (_, i) =>
      body.subarray(i * 10_007, (i + 1) * 10_007),
    );
    await client.insert({
      ...{ table: 'wide', columns: ['n', 't'], format: 'TabSeparated' },
      values: Readable.from(chunks, { objectMode: false }),
    });
    const wrong = await rows<{ all: string; wrong: string }>(
      `SELECT toString(count()) AS all,
         toString(countIf(t != concat({t:String}, toString(n)))) AS wrong
       FROM wide`,
      { t: text },
    );
    expect(wrong).toEqual([{ all: '12000', wrong: '0' }]);
  });

  test('a line that is not a row is an error that names it', async () => {
    await client.command({ query: 'CREATE TABLE strict (n UInt32) ENGINE = Memory' });
    const error = await refusal(
      client.insert({
        ...{ table: 'strict', columns: ['n'], format: 'TabSeparated' },
        values: Readable.from([Buffer.from('1\nx\n')], { objectMode: false }),
      }),
    );
    expect(error.code).toBe('27');
    expect(await rows('SELECT * FROM strict')).toEqual([]);
  });
});
