import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { exportLimit, exportsMax } from '../../src/app/export-limit.ts';
import { csvCell, csvName, samplesCsv } from '../../src/app/samples-csv.ts';
import type { AnswerOf } from '../../src/domain/api/app/endpoint.ts';
import type {
  listSamples,
  readFacets,
  readSeries,
  readTrace,
} from '../../src/domain/api/app/samples.ts';
import type { Field } from '../../src/domain/nouns.ts';
import { type SignedInUser, signedIn } from '../support/signed-in.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';

const fields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'place', role: 'label' },
  { name: 'on', role: 'label', label: 'device' },
  { name: 'visits', role: 'value', metric: 'visits' },
  { name: 'amount', role: 'value', metric: 'amount' },
  { name: 'guest', personal: true, required: false },
];
/** Text that CSV, JSON, addresses and spreadsheets each take for something else. */
const odd = `=a"b\\c'd, é\u2028/&😀`;
const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
const document = `day,place,on,visits,amount,guest,extra
2026-01-01,A,phone,10,-10.50,Ada Lovelace,canary
2026-01-04,B,phone,20,1234567890123456789.10,Grace Hopper,canary
2026-01-02,A,phone,11,2.50,,
2026-01-02,B,phone,13,,,
2026-01-03,${quoted(odd)},phone,5,3.00,,
`;

let weir: TestWeir;
let source: TestSource;
let user: SignedInUser;
const artifacts: string[] = [];
beforeAll(async () => {
  weir = await TestWeir.start();
  source = await weir.source({ delivery: 'document', fields });
  user = await signedIn(weir, { of: source.sourceId, permissions: ['sources.read'] });
  const send = async (sender: TestSource['sender'], body: string, key: string) => {
    const { artifact_id } = await sender.settled(await sender.document(body, key));
    artifacts.push(artifact_id);
  };
  await send(source.sender, document, 'january.csv');
  const corrected = 'day,place,on,visits,amount\n2026-01-01,A,phone,12,-10.50\n';
  await send(source.sender, corrected, 'corrected.csv');
  const sandbox = await source.withKey({ sandbox: true });
  await send(sandbox, corrected.replace('12', '99'), 'sandbox.csv');
});
afterAll(() => weir.stop());

const path = (what: string, query: Record<string, string> = {}) =>
  `/app/api/sources/${source.sourceId}/${what}?${new URLSearchParams(query)}`;

async function get<T>(what: string, query: Record<string, string> = {}): Promise<T> {
  const answer = await user(path(what, query));
  expect([what, answer.status]).toEqual([what, 200]);
  return (await answer.json()) as T;
}

const table = (query: Record<string, string> = {}) =>
  get<AnswerOf<typeof listSamples>>('samples', query);

describe('the table', () => {
  test('is what the API answers, in its order, page by page', async () => {
    const found: AnswerOf<typeof listSamples>['samples'] = [];
    let after: string | null = '';
    for (let pages = 0; after !== null && pages < 20; pages++) {
      const page = await table({ limit: '2', sandbox: 'true', ...(after && { after }) });
      found.push(...page.samples);
      after = page.next;
    }
    const window = '/v1/samples?from=2026-01-01&to=2026-02-01';
    const { samples } = JSON.parse((await source.sender.get(window)).text);
    expect(found).toEqual(samples);
    expect(found).toHaveLength(11);
    expect(found.map(({ value }) => value)).toContain('1234567890123456789.10');
  });

  test('leaves the sandbox out unless asked, and holds what the filter leaves', async () => {
    const of = async (query: Record<string, string>) =>
      (await table(query)).samples.map(({ value }) => value);
    expect(await of({ metric: 'visits' })).toEqual(['20', '5', '11', '13', '12']);
    expect(await of({ metric: 'visits', sandbox: 'true' })).toContain('99');
    const a = JSON.stringify({ place: 'A' });
    expect(await of({ metric: 'visits', labels: a, to: '2026-01-02' })).toEqual(['12']);
    expect(await of({ metric: 'visits', labels: JSON.stringify({ place: odd }) })).toEqual(['5']);
  });

  test.each([
    ['labels', { labels: '{"a":1}' }],
    ['from', { from: '2026-01-02', to: '2026-01-02' }],
    ['to', { to: '2026-02-30' }],
    ['after', { after: 'bm90aGluZw' }],
    ['limit', { limit: '501' }],
  ])('refuses what is wrong with %s', async (field, query) => {
    const answer = await user(path('samples', query));
    expect([answer.status, ((await answer.json()) as { field: string }).field]).toEqual([
      ...[400, field],
    ]);
  });
});

test('a chart gets each label set as a series, sandbox ones only when asked', async () => {
  const query = { metric: 'visits', labels: '{"place":"A"}' };
  const { series, total } = await get<AnswerOf<typeof readSeries>>('series', query);
  expect(total).toBe(1);
  expect(series).toEqual([
    {
      labels: { device: 'phone', place: 'A' },
      sandbox: false,
      points: {
        first_day: ['2026-01-01', '2026-01-02'],
        last_day: ['2026-01-01', '2026-01-02'],
        ...{ min: [12, 11], max: [12, 11], last: [12, 11], samples: [1, 1] },
      },
    },
  ]);
  const both = { ...query, sandbox: 'true' };
  const with2 = await get<AnswerOf<typeof readSeries>>('series', both);
  expect(with2.series.map(({ sandbox, points }) => [sandbox, points.last])).toEqual([
    [false, [12, 11]],
    [true, [99]],
  ]);
});

test('the choices are metrics with their names, and the labels of one of them', async () => {
  const found = await get<AnswerOf<typeof readFacets>>('sample-facets', { metric: 'visits' });
  expect(found.metrics.map(({ key }) => key)).toEqual(['amount', 'visits']);
  expect(found.metrics[1]).toMatchObject({
    ...{ name: 'visits', unit: 'one', has_sandbox: true },
    ...{ first_day: '2026-01-01', last_day: '2026-01-04' },
  });
  expect(found.labels).toEqual([
    { name: 'device', values: ['phone'], cut: false },
    { name: 'place', values: [odd, 'A', 'B'].sort(), cut: false },
  ]);
});

describe('a trace', () => {
  const a = { metric: 'visits', period: '2026-01-01', labels: '{"device":"phone","place":"A"}' };

  test('leads a value to delivery, line, bytes and fields, and tells what it was', async () => {
    const found = await get<AnswerOf<typeof readTrace>>('trace', a);
    expect(found.sample).toEqual({
      ...{ metric: 'visits', period_start: '2026-01-01', value: '12', unit: 'one' },
      ...{ labels: { device: 'phone', place: 'A' }, sandbox: false },
    });
    expect(found.delivery).toMatchObject({
      ...{ artifact_id: artifacts[1], idempotency_keys: ['corrected.csv'], status: 'parsed' },
    });
    expect(found).toMatchObject({
      record: 1,
      line: 2,
      byte_range: { from: 27 },
      fields_cut: false,
    });
    expect(found.superseded).toMatchObject([{ value: '10', artifact_id: artifacts[0], record: 1 }]);
  });

  test('masks what is personal and what the shape does not know', async () => {
    const labels = JSON.stringify({ device: 'phone', place: 'B' });
    const answer = await user(path('trace', { ...a, labels, period: '2026-01-04' }));
    const text = await answer.text();
    expect(text).not.toMatch(/Grace|canary/);
    const { fields: shown } = JSON.parse(text) as AnswerOf<typeof readTrace>;
    expect(shown).toEqual([
      { name: 'day', text: '2026-01-04', masked: false, gave: 'period' },
      { name: 'place', text: 'B', masked: false, gave: 'label' },
      { name: 'on', text: 'phone', masked: false, gave: 'label' },
      { name: 'visits', text: '20', masked: false, gave: 'value' },
      { name: 'amount', text: '1234567890123456789.10', masked: false, gave: null },
      { name: 'guest', text: null, masked: true, gave: null },
      { name: 'extra', text: null, masked: true, gave: null },
    ]);
  });

  test('says which field gave a value of a metric without labels', async () => {
    const asked = { metric: 'amount', period: '2026-01-04', labels: '{}' };
    const { fields: shown } = await get<AnswerOf<typeof readTrace>>('trace', asked);
    const gave = shown.flatMap(({ name, gave: what }) => (what ? [`${name}: ${what}`] : []));
    expect(gave).toEqual(['day: period', 'amount: value']);
  });

  test('finds any label text, and the sandbox sample by itself', async () => {
    const labels = JSON.stringify({ device: 'phone', place: odd });
    const found = await get<AnswerOf<typeof readTrace>>('trace', {
      ...{ metric: 'visits', period: '2026-01-03', labels },
    });
    expect(found.sample.value).toBe('5');
    const sandbox = await get<AnswerOf<typeof readTrace>>('trace', { ...a, sandbox: 'true' });
    expect(sandbox.sample).toMatchObject({ value: '99', sandbox: true });
  });

  test('says what is not there, and what several samples have', async () => {
    const missing = await user(path('trace', { ...a, period: '2020-01-01' }));
    expect(missing.status).toBe(404);
    const several = await user(path('trace', { ...a, period: '2026-01-02', labels: '{}' }));
    expect(several.status).toBe(409);
    expect(await several.json()).toMatchObject({ reason: 'sample_ambiguous' });
  });
});

describe('the export', () => {
  test('has every sample as it is, and no cell that a spreadsheet computes', async () => {
    const answer = await user(path('samples.csv', { to: '2026-01-05' }));
    expect(answer.headers.get('content-type')).toMatch(/^text\/csv; charset=utf-8/);
    expect(answer.headers.get('content-disposition')).toBe('attachment; filename="test.csv"');
    const [first, second] = artifacts;
    const safe = quoted(`'${odd}`);
    expect((await answer.text()).split('\r\n')).toEqual([
      'metric,period_start,value,device,place,artifact_id',
      `amount,2026-01-04,1234567890123456789.10,,,${first}`,
      `visits,2026-01-04,20,phone,B,${first}`,
      `amount,2026-01-03,3.00,,,${first}`,
      `visits,2026-01-03,5,phone,${safe},${first}`,
      `amount,2026-01-02,2.50,,,${first}`,
      `visits,2026-01-02,11,phone,A,${first}`,
      `visits,2026-01-02,13,phone,B,${first}`,
      `amount,2026-01-01,-10.50,,,${second}`,
      `visits,2026-01-01,12,phone,A,${second}`,
      '',
    ]);
  });

  test('leaves a label empty that a metric lacks, whatever it is called', async () => {
    const metric = { name: 'a', unit: '', period_start: '2026-01-01' };
    const page = ['constructor', 'place'].map((label, i) => ({
      ...{ ...metric, metric: `m${i}`, day: 0, value: '1', sandbox: false, artifactId: 'a' },
      labelsJson: JSON.stringify({ [label]: 'x' }),
    }));
    const explorer = {
      metrics: async () =>
        page.map((one) => ({ ...one, hasSandbox: false, firstDay: 0, lastDay: 0 })),
      page: async () => page,
    };
    const declared = ['constructor', 'place'].map((label, i) => ({
      ...{ key: `m${i}`, name: 'a', unit: '', labels: [label] },
    }));
    const filter = { sourceId: 's', labels: {}, sandbox: false };
    let text = '';
    for await (const piece of samplesCsv(explorer, filter, declared)) text += piece.toString();
    expect(text.split('\r\n').slice(1, 3)).toEqual([
      'm0,1970-01-01,1,x,,a',
      'm1,1970-01-01,1,,x,a',
    ]);
  });

  test('marks sandbox samples where they are chosen', async () => {
    const query = { metric: 'visits', sandbox: 'true', from: '2026-01-01', to: '2026-01-02' };
    const rows = (await (await user(path('samples.csv', query))).text()).split('\r\n');
    expect(rows[0]).toBe('metric,period_start,value,device,place,sandbox,artifact_id');
    expect(rows).toContain(`visits,2026-01-01,99,phone,A,true,${artifacts[2]}`);
    expect(rows).toContain(`visits,2026-01-01,12,phone,A,false,${artifacts[1]}`);
  });

  test.each([
    ['=1+1', "'=1+1"],
    ['+49 30', "'+49 30"],
    ['-1.50', '-1.50'],
    ['-1+1', "'-1+1"],
    ['@SUM(A1)', "'@SUM(A1)"],
    ['\t=1', "'\t=1"],
    ['\r=1', '"\'\r=1"'],
    ['\n=1', '"\'\n=1"'],
    ['＝1+1', "'＝1+1"],
    ['a,b', '"a,b"'],
    ['say "so"', '"say ""so"""'],
    ['plain', 'plain'],
  ])('%j is written %s', (text, cell) => {
    expect(csvCell(text)).toBe(cell);
  });

  test.each([
    ['Umsatz "2026"; ä/b.csv', 'Umsatz-2026-b-csv.csv'],
    ['日本', 'samples.csv'],
  ])('the file of %s is named %s', (name, file) => {
    expect(csvName(name)).toBe(file);
  });
});

test('exports are bounded for each company and in all, until they end', async () => {
  const limited = exportLimit();
  const ends: (() => void)[] = [];
  const begin = (company: string) =>
    limited(company, () => new Promise<void>((resolve) => ends.push(resolve)));
  const busy = { code: 'conflict', status: 409 };
  const { company, all } = exportsMax;
  const running = Array.from({ length: company }, () => begin('a'));
  await expect(begin('a')).rejects.toMatchObject(busy);
  for (let i = company; i < all; i += 1) running.push(begin(`b${i}`));
  await expect(begin('c')).rejects.toMatchObject(busy);
  for (const end of ends) end();
  await Promise.all(running);
  await limited('a', async () => {});
});

test('nobody sees the samples of another company', async () => {
  const other = await signedIn(weir, {});
  for (const what of ['samples', 'samples.csv', 'sample-facets']) {
    expect([what, (await other(path(what))).status]).toEqual([what, 404]);
  }
  const asked = { metric: 'visits', period: '2026-01-01' };
  expect((await other(path('trace', asked))).status).toBe(404);
  expect((await other(path('series', { metric: 'visits' }))).status).toBe(404);
});
