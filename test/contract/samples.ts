import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ClickHouseAddress } from '../../src/samples/address.ts';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { connect } from '../../src/samples/client.ts';
import { layoutOf } from '../../src/samples/layout.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { dayOf, encode, encodeRejections, read, samplesOnly } from '../samples/support.ts';
import { compareWithModel } from './samples-model.ts';
import { forgetting, settlement } from './samples-settle.ts';

/**
 * What every sample store keeps (src/samples/samples.ts), run by each kind of ClickHouse.
 * The address names a database of its own, which is dropped at the end.
 *
 * @param model false: leave out the long run of random deliveries
 */
export function sampleStoreContract(open: () => Promise<ClickHouseAddress>, model = true): void {
  let address: ClickHouseAddress;
  let store: SampleStore;
  beforeAll(async () => {
    address = await open();
    store = openSamples(address);
    await store.prepare();
  });
  afterAll(async () => {
    const client = connect(address, null);
    const { everywhere } = layoutOf(address);
    await client.command({
      query: `DROP DATABASE IF EXISTS ${address.database}${everywhere} SYNC`,
    });
    await client.close();
    await store.close();
  });

  describe('order and windows', () => windows(() => store));
  describe('supersession', () => supersession(() => store));
  describe('parsing again', () => settlement(() => store));
  describe('forgetting', () => {
    forgetting(
      () => store,
      async () => (await Promise.all(rowTables.map((table) => rowsIn(address, table)))).join(),
    );
  });
  describe('bytes', () => bytes(() => store));
  describe('rejections', () => rejections(() => store));
  describe.runIf(model)('model', () => {
    test('400 random deliveries read as the model says, unmerged and merged', async () => {
      await compareWithModel(address, store);
    });
  });
}

function windows(store: () => SampleStore): void {
  test('the newest day comes first; then metric, labels as UTF-8 bytes, sandbox', async () => {
    const sourceId = randomUUID();
    const day = dayOf('2026-03-01');
    // U+FF61 sorts before U+1F600 as UTF-8, after it as UTF-16.
    const wide: Record<string, string>[] = [
      ...[{ region: '\uff61' }, { region: '\u{1f600}' }, { region: 'a' }],
      {},
    ];
    const samples = [
      { day, metric: 'b', value: '1' },
      ...wide.map((labels) => ({ day, metric: 'a', labels, value: '2' })),
      { day: day + 1, metric: 'z', value: '3' },
    ];
    await store().insert(
      samplesOnly(
        encode({ sourceId, sequence: 2, sandbox: true, samples: [{ ...samples[0]!, value: '9' }] }),
        encode({ sourceId, sequence: 1, samples }),
      ),
    );
    const answer = await read(store(), { sourceId });
    expect(answer.map((s) => [s.metric, s.labels.region, s.sandbox])).toEqual([
      ['z', undefined, false],
      ['a', 'a', false],
      ['a', '\uff61', false],
      ['a', '\u{1f600}', false],
      ['a', undefined, false],
      ['b', undefined, false],
      ['b', undefined, true],
    ]);
  });

  test('from is inclusive, to is exclusive', async () => {
    const sourceId = randomUUID();
    const samples = [10, 11, 12, 13].map((day) => ({ day, value: String(day) }));
    await store().insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    const answer = await read(store(), { sourceId, fromDay: 11, toDay: 13 });
    expect(answer.map((s) => s.value)).toEqual(['12', '11']);
  });

  test('1900-01-01, 2299-12-31, leap days and days around 1970 come back as sent', async () => {
    const sourceId = randomUUID();
    const dates = [
      ...['2299-12-31', '2149-06-07', '2100-02-28', '2024-02-29', '2000-02-29', '1970-01-02'],
      ...['1970-01-01', '1969-12-31', '1968-02-29', '1925-01-01', '1900-03-01', '1900-01-01'],
    ];
    const samples = dates.map((date) => ({ day: dayOf(date), value: '1' }));
    await store().insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    const answer = await read(store(), { sourceId });
    expect(answer.map((s) => s.period_start)).toEqual(dates);
    // Each is found by a window of its day alone, and the window may reach further back.
    for (const date of dates) {
      const day = dayOf(date);
      const found = await read(store(), { sourceId, fromDay: day, toDay: day + 1 });
      expect(found.map((s) => s.period_start)).toEqual([date]);
    }
    const before1970 = { fromDay: dayOf('0001-01-01'), toDay: 0 };
    expect(await read(store(), { sourceId, ...before1970 })).toHaveLength(5);
  });

  test('a window of exactly the limit is whole, one sample more truncates it', async () => {
    const sourceId = randomUUID();
    const samples = Array.from({ length: 11 }, (_, day) => ({ day, value: String(day) }));
    await store().insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    const whole = await store().window({ sourceId, fromDay: 1, toDay: 11, limit: 10 });
    expect([whole.count, whole.truncated]).toEqual([10, false]);
    const cut = await store().window({ sourceId, fromDay: 0, toDay: 11, limit: 10 });
    expect([cut.count, cut.truncated]).toEqual([10, true]);
    expect(cut.json.equals(whole.json)).toBe(true);
  });

  test('an empty window is an empty array', async () => {
    const answer = await store().window({ sourceId: randomUUID(), fromDay: 0, toDay: 9, limit: 5 });
    expect([answer.json.toString(), answer.count, answer.truncated]).toEqual(['[]', 0, false]);
  });

  test('sources are apart', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    for (const sourceId of [one, other]) {
      const samples = [{ day: 5, value: sourceId === one ? '1' : '2' }];
      await store().insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    }
    expect((await read(store(), { sourceId: one })).map((s) => s.value)).toEqual(['1']);
    expect((await read(store(), { sourceId: other })).map((s) => s.value)).toEqual(['2']);
  });
}

function supersession(store: () => SampleStore): void {
  const day = dayOf('2025-06-01');

  test('the later accepted delivery wins, whichever was inserted last', async () => {
    const sourceId = randomUUID();
    for (const sequence of [3, 7, 5, 1, 6, 2, 4]) {
      const samples = [{ day, value: String(sequence) }];
      await store().insert(samplesOnly(encode({ sourceId, sequence, samples })));
    }
    expect((await read(store(), { sourceId })).map((s) => s.value)).toEqual(['7']);
  });

  test('inside a delivery the later record wins, also against a later insert', async () => {
    const sourceId = randomUUID();
    const artifactId = randomUUID();
    const part = (record: number) =>
      encode({
        ...{ sourceId, artifactId, sequence: 1 },
        samples: [{ day, value: `${record}`, record }],
      });
    await store().insert(samplesOnly(part(2), part(10), part(9)));
    await store().insert(samplesOnly(part(3)));
    expect((await read(store(), { sourceId })).map((s) => s.value)).toEqual(['10']);
  });

  test('sequences beyond 32 bits and large records keep their order', async () => {
    const sourceId = randomUUID();
    const large = 2 ** 40;
    for (const [sequence, record] of [
      [large + 1, 1],
      [large, 4_294_967_295],
    ] as const) {
      const samples = [{ day, value: String(sequence), record }];
      await store().insert(samplesOnly(encode({ sourceId, sequence, samples })));
    }
    expect((await read(store(), { sourceId })).map((s) => s.value)).toEqual([String(large + 1)]);
  });

  test('the same rows inserted again change nothing', async () => {
    const sourceId = randomUUID();
    const artifactId = randomUUID();
    const samples = Array.from({ length: 50 }, (_, i) => ({ day: i, value: `${i}.50` }));
    const rows = samplesOnly(encode({ sourceId, artifactId, sequence: 1, samples }));
    await store().insert(rows);
    const once = await store().window({ sourceId, fromDay: 0, toDay: 99, limit: 99 });
    await store().insert(rows);
    await store().insert({ samples: [...rows.samples, ...rows.samples], rejections: [] });
    const thrice = await store().window({ sourceId, fromDay: 0, toDay: 99, limit: 99 });
    expect(once.count).toBe(50);
    expect(thrice.json.equals(once.json)).toBe(true);
  });

  test('sandbox never supersedes production, nor the reverse; the filter tells them', async () => {
    const sourceId = randomUUID();
    const of = (sequence: number, sandbox: boolean, value: string) =>
      encode({ sourceId, sequence, sandbox, samples: [{ day, value }] });
    await store().insert(samplesOnly(of(1, false, '1'), of(2, true, '2'), of(3, true, '3')));
    const values = async (sandbox?: boolean) => {
      const answer = await read(
        store(),
        sandbox === undefined ? { sourceId } : { sourceId, sandbox },
      );
      return answer.map((s) => [s.value, s.sandbox]);
    };
    expect(await values()).toEqual([
      ['1', false],
      ['3', true],
    ]);
    expect(await values(true)).toEqual([['3', true]]);
    expect(await values(false)).toEqual([['1', false]]);
  });

  test('other labels or another metric are another sample', async () => {
    const sourceId = randomUUID();
    const samples = [
      { day, value: '1', labels: { a: '1' } },
      { day, value: '2', labels: { a: '2' } },
      { day, value: '3', metric: 'other', labels: { a: '1' } },
    ];
    await store().insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    const later = [{ day, value: '4', labels: { a: '2' } }];
    await store().insert(samplesOnly(encode({ sourceId, sequence: 2, samples: later })));
    const answer = await read(store(), { sourceId });
    expect(answer.map((s) => s.value)).toEqual(['3', '1', '4']);
  });
}

function bytes(store: () => SampleStore): void {
  test('values come back as the text that was sent', async () => {
    const sourceId = randomUUID();
    const values = [
      ...['10.50', '-0.00', '0.1', '007', '-1', '0'],
      ...['9'.repeat(76), `-${'1'.repeat(38)}.${'2'.repeat(38)}`, `0.${'0'.repeat(74)}1`],
    ];
    const samples = values.map((value, i) => ({ day: -i, value }));
    await store().insert(samplesOnly(encode({ sourceId, sequence: 1, samples })));
    expect((await read(store(), { sourceId })).map((s) => s.value)).toEqual(values);
  });

  const texts = {
    quotes: `"double" and 'single'`,
    backslashes: 'a\\b\\\\c\\n',
    'white space': 'tab\tnew\nline\r\ncarriage',
    controls: '\0\b\f\u0001\u001f\u007f',
    'line separators': '\u2028\u2029',
    unicode: 'żółć 測試 😀 e\u0301 \ufeff',
    'a lone surrogate': '\ud800',
    slashes: 'https://example.com/</script>',
    'text like null': '\\N',
    nothing: '',
    'a long text': 'ü'.repeat(1_024),
  };
  test.each(Object.entries(texts))('a label with %s comes back as sent', async (_, text) => {
    const sourceId = randomUUID();
    const labels = { [text.slice(0, 20)]: text, z: 'z' };
    await store().insert(
      samplesOnly(encode({ sourceId, sequence: 1, samples: [{ day: 1, value: '1', labels }] })),
    );
    expect((await read(store(), { sourceId }))[0]?.labels).toEqual(labels);
  });

  test('a sample is this text, byte for byte', async () => {
    const sourceId = randomUUID();
    const artifactId = randomUUID();
    const sample = { day: dayOf('2024-02-29'), metric: 'net_sales', value: '10.50' };
    await store().insert(
      samplesOnly(
        encode({ sourceId, artifactId, sequence: 1, sandbox: true, samples: [sample] }),
        encode({
          ...{ sourceId, artifactId, sequence: 1 },
          samples: [{ ...sample, labels: { b: '/', a: 'é' } }],
        }),
      ),
    );
    const answer = await store().window({ sourceId, fromDay: 0, toDay: 99_999, limit: 9 });
    const of = (labels: string, sandbox: boolean) =>
      `{"metric":"net_sales","period_start":"2024-02-29","value":"10.50","labels":${labels},` +
      `"sandbox":${sandbox},"artifact_id":"${artifactId}"}`;
    expect(answer.json.toString()).toBe(`[${of('{"a":"é","b":"/"}', false)},${of('{}', true)}]`);
  });

  test('megabytes of wide characters arrive whole', async () => {
    const sourceId = randomUUID();
    const text = (i: number) => `${'x'.repeat(i % 7)}${'測試😀ü'.repeat(60)}${i}`;
    const samples = Array.from({ length: 4_000 }, (_, i) => ({
      ...{ day: i, value: String(i) },
      labels: { text: text(i) },
    }));
    const rows = encode({ sourceId, sequence: 1, samples });
    expect(rows.length).toBeGreaterThan(3_000_000);
    await store().insert(samplesOnly(rows));
    const answer = await read(store(), { sourceId });
    const wrong = answer.filter((s) => s.labels.text !== text(Number(s.value)));
    expect([answer.length, wrong.length]).toEqual([4_000, 0]);
  });
}

function rejections(store: () => SampleStore): void {
  const rejection = (record: number, line: number | null, field: string | null, code = 'c') => ({
    ...{ record, line, field, code },
    message: 'The value is not\ta "decimal".\n\\',
  });

  test('come by record, then as found, with null line and field', async () => {
    const artifactId = randomUUID();
    const found = [
      rejection(10, 11, 'amount', 'first'),
      rejection(10, 11, 'a\tb', 'second'),
      rejection(2, null, null),
      rejection(4_000_000, 4_000_001, ''),
    ];
    await store().insert(encodeRejections(artifactId, 0, found));
    const answer = await store().rejections({ artifactId, generation: 0, limit: 100 });
    expect(answer).toEqual([found[2], found[0], found[1], found[3]]);
  });

  test('are those of one delivery and one generation, once', async () => {
    const [one, other] = [randomUUID(), randomUUID()];
    await store().insert(encodeRejections(one, 0, [rejection(1, 2, 'old')]));
    for (let twice = 0; twice < 2; twice++) {
      await store().insert(encodeRejections(one, 1, [rejection(1, 2, 'new')]));
    }
    await store().insert(encodeRejections(other, 0, [rejection(1, 2, 'other')]));
    const answer = await store().rejections({ artifactId: one, generation: 1, limit: 9 });
    expect(answer.map((r) => r.field)).toEqual(['new']);
    const none = await store().rejections({ artifactId: other, generation: 5, limit: 9 });
    expect(none).toEqual([]);
  });

  test('can be read page by page', async () => {
    const artifactId = randomUUID();
    const found = Array.from({ length: 25 }, (_, i) => rejection(i + 1, i + 2, 'f'));
    await store().insert(encodeRejections(artifactId, 0, found));
    const pages: number[][] = [];
    for (let offset = 0; offset < 30; offset += 10) {
      const page = await store().rejections({ artifactId, generation: 0, limit: 10, offset });
      pages.push(page.map((r) => r.record ?? -1));
    }
    expect(pages.map((page) => page.length)).toEqual([10, 10, 5]);
    expect(pages.flat()).toEqual(found.map((r) => r.record));
  });
}

const rowTables = ['samples', 'sample_versions', 'rejections', 'delivery_generations'];

/** Every row of a table, hidden ones too. */
async function rowsIn(address: ClickHouseAddress, table: string): Promise<string> {
  const client = connect(address, address.database);
  const answer = await client.query({ query: `SELECT * FROM ${table}`, format: 'JSONEachRow' });
  const text = await answer.text();
  await client.close();
  return text;
}
