import { createHash } from 'node:crypto';
import { gunzipSync } from 'node:zlib';
import { beforeAll, expect, test } from 'vitest';
import { dayOf } from '../../src/domain/days.ts';
import { limits } from '../../src/domain/limits.ts';
import { dayToText } from '../../src/domain/periods.ts';
import { jsonOf } from '../support/ask.ts';
import { accepted, type Sample, type Samples } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

/** GET /v1/samples (specification; DECISIONS 8). */
export function readCases(weir: TheWeir): void {
  /** A thousand days, 2023-04-07 to 2025-12-31, one sample each. */
  let days: TestSource;
  /** 5,001 samples within one day. */
  let crowd: TestSource;

  beforeAll(async () => {
    days = await weir().source({ delivery: 'document' });
    const last = dayOf(2025, 12, 31);
    const rows = Array.from({ length: 1_000 }, (_, i) => `${dayToText(last - i)},${i}`);
    crowd = await weir().source({ delivery: 'document', fields: visits });
    const many = Array.from({ length: 5_001 }, (_, i) => `2026-03-01,phone,p${pad(i)},${i}`);
    await Promise.all([
      send(days, `day,amount\n${rows.join('\n')}\n`),
      send(crowd, `day,device,place,visits\n${many.join('\n')}\n`),
    ]);
  });

  test('the answer has exactly the fields of the specification', async () => {
    const answer = await days.sender.samples('from=2025-12-31&to=2026-01-01');
    expect(answer).toEqual({
      source_id: days.sourceId,
      window: { from: '2025-12-31', to: '2026-01-01', max_days: 731, narrowed: false },
      samples: [
        {
          metric: 'amount',
          period_start: '2025-12-31',
          value: '0',
          labels: {},
          sandbox: false,
          artifact_id: (await days.deliveries())[0],
        },
      ],
      truncated: false,
    });
  });

  test('without from and to the window ends tomorrow in the company zone', async () => {
    for (const timezone of ['Pacific/Kiritimati', 'Pacific/Pago_Pago', 'Europe/Berlin']) {
      const source = await weir().source({ timezone });
      const before = todayIn(timezone);
      const { window } = await source.sender.samples();
      if (before !== todayIn(timezone)) continue; // Midnight fell between.
      expect(window.to).toBe(shift(before, 1));
      expect(window.from).toBe(shift(before, 1 - 731));
      expect(window.narrowed).toBe(false);
    }
  });

  const windows = [
    { query: 'to=2026-01-01', from: '2024-01-01', to: '2026-01-01', narrowed: false },
    {
      query: 'from=2024-01-01&to=2026-01-01',
      ...{ from: '2024-01-01', to: '2026-01-01', narrowed: false },
    },
    {
      query: 'from=2023-12-31&to=2026-01-01',
      ...{ from: '2024-01-01', to: '2026-01-01', narrowed: true },
    },
    {
      query: 'from=0001-01-01&to=2026-01-01',
      ...{ from: '2024-01-01', to: '2026-01-01', narrowed: true },
    },
    {
      query: 'from=2024-01-02&to=2026-01-01',
      ...{ from: '2024-01-02', to: '2026-01-01', narrowed: false },
    },
    {
      query: 'from=0001-01-01&to=0001-01-02',
      ...{ from: '0001-01-01', to: '0001-01-02', narrowed: false },
    },
    { query: 'to=0001-06-01', from: '0001-01-01', to: '0001-06-01', narrowed: false },
    {
      query: 'from=9999-12-30&to=9999-12-31',
      ...{ from: '9999-12-30', to: '9999-12-31', narrowed: false },
    },
    {
      query: 'from=2024-02-29&to=2024-03-01',
      ...{ from: '2024-02-29', to: '2024-03-01', narrowed: false },
    },
  ];
  test.each(windows)('$query reads $from to $to, narrowed: $narrowed', async (row) => {
    const { window, samples } = await days.sender.samples(row.query);
    const { from, to, narrowed } = row;
    expect(window).toEqual({ from, to, max_days: 731, narrowed });
    const expected = Array.from({ length: 1_000 }, (_, i) =>
      dayToText(dayOf(2025, 12, 31) - i),
    ).filter((day) => day >= from && day < to);
    expect(samples.map((sample) => sample.period_start)).toEqual(expected);
  });

  const errors = [
    { query: 'from=2026-01-01&to=2026-01-01', field: 'from' },
    { query: 'from=2026-01-02&to=2026-01-01', field: 'from' },
    { query: 'from=9000-01-01', field: 'from' },
    { query: 'to=0001-01-01', field: 'from' },
    { query: 'from=2026-02-29', field: 'from' },
    { query: 'to=2026-13-01', field: 'to' },
    { query: 'to=2026-00-10', field: 'to' },
    { query: 'to=2026-04-31', field: 'to' },
    { query: 'from=', field: 'from' },
    { query: 'to=', field: 'to' },
    { query: 'from=0000-01-01', field: 'from' },
    { query: 'to=10000-01-01', field: 'to' },
    { query: 'from=-001-01-01', field: 'from' },
    { query: 'from=2026-1-01', field: 'from' },
    { query: 'from=20260101', field: 'from' },
    { query: 'from=2026-01-01T00:00:00Z', field: 'from' },
    { query: 'from=2026-01-01%20', field: 'from' },
    { query: 'from=2026-W01', field: 'from' },
    { query: 'from=%EF%BC%92026-01-01', field: 'from' },
    { query: 'from=yesterday&to=nonsense', field: 'from' },
    { query: 'from=2026-01-01&from=2026-01-01', field: 'from' },
    { query: 'to=2026-01-01&to=2026-01-02', field: 'to' },
    { query: 'sandbox=yes', field: 'sandbox' },
    { query: 'sandbox=', field: 'sandbox' },
    { query: 'sandbox=true&sandbox=true', field: 'sandbox' },
  ];
  test.each(errors)('$query is 400 on $field', async ({ query, field }) => {
    const answer = await days.sender.get(`/v1/samples?${query}`);
    expect(answer.status).toBe(400);
    const message = expect.stringMatching(/\.$/);
    expect(jsonOf(answer)).toEqual({ code: 'invalid_argument', message, field });
  });

  test('parameters may be percent-encoded and unknown ones are passed over', async () => {
    const { window } = await days.sender.samples('from=2025%2d12%2D01&to=2026-01-01&x=1&y');
    expect(window.from).toBe('2025-12-01');
  });

  test('more than 5,000 samples are truncated to the first 5,000 of the order', async () => {
    const answer = await crowd.sender.samples('from=2026-03-01&to=2026-03-02');
    expect(answer.truncated).toBe(true);
    expect(answer.samples).toHaveLength(limits.samplesPerAnswerMax);
    const places = answer.samples.map((sample) => sample.labels.place);
    expect(places).toEqual(Array.from({ length: 5_000 }, (_, i) => `p${pad(i)}`));
  });

  test('exactly 5,000 samples are not truncated', async () => {
    const source = await weir().source({ delivery: 'document', fields: visits });
    const rows = Array.from({ length: 5_000 }, (_, i) => `2026-03-01,phone,p${i},${i}`);
    await send(source, `day,device,place,visits\n${rows.join('\n')}\n`);
    const answer = await source.sender.samples('from=2026-03-01&to=2026-03-02');
    expect([answer.truncated, answer.samples.length]).toEqual([false, 5_000]);
  });

  test('the newest come first, then by metric, labels as UTF-8 bytes, sandbox', async () => {
    const source = await weir().source({ delivery: 'document', fields: visits });
    const sandbox = await source.withKey({ sandbox: true });
    const places = ['b', 'a', 'B', 'é', 'z', '\u{10000}', '\uffee', '', '10', '9', '"', 'a b'];
    const cell = (text: string) => `"${text.replaceAll('"', '""')}"`;
    const rows = ['2026-03-02', '2026-03-01', '2026-03-03'].flatMap((day) =>
      places.map((place) => `${day},${place.length % 2 ? 'x' : 'y'},${cell(place)},1`),
    );
    const csv = `day,device,place,visits\n${rows.join('\n')}\n`;
    await send(source, csv);
    await sandbox.settled(await sandbox.document(csv));
    const { samples } = await source.sender.samples('from=2026-03-01&to=2026-03-04');
    expect(samples).toHaveLength(2 * rows.length);
    expect(samples).toEqual([...samples].sort(specifiedOrder));
  });

  test('?sandbox filters; without it both come', async () => {
    const source = await weir().source({ delivery: 'document' });
    const sandbox = await source.withKey({ sandbox: true });
    await send(source, 'day,amount\n2026-03-01,1\n');
    await sandbox.settled(await sandbox.document('day,amount\n2026-03-01,2\n'));
    const values = async (query: string) =>
      (await source.sender.samples(`from=2026-03-01${query}`)).samples.map(({ value }) => value);
    expect(await values('')).toEqual(['1', '2']);
    expect(await values('&sandbox=true')).toEqual(['2']);
    expect(await values('&sandbox=false')).toEqual(['1']);
  });

  test('a key reads its own source only', async () => {
    const other = await weir().source({ delivery: 'document' });
    const { samples, source_id } = await other.sender.samples('from=2025-01-01&to=2026-01-01');
    expect([samples, source_id]).toEqual([[], other.sourceId]);
  });

  test('an answer carries a strong ETag; who has it gets 304 without a body', async () => {
    const path = '/v1/samples?from=2025-12-01&to=2026-01-01';
    const first = await days.sender.get(path);
    const etag = first.headers.etag!;
    expect(etag).toMatch(/^"[^"]+"$/);
    expect(first.headers['cache-control']).toBe('private, no-cache');
    expect(first.headers.vary).toBe('Authorization, Origin, Accept-Encoding');
    for (const tag of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const again = await days.sender.get(path, { 'If-None-Match': tag });
      expect([again.status, again.body.length]).toEqual([304, 0]);
      expect(again.headers.etag).toBe(etag);
      expect(again.headers['cache-control']).toBe('private, no-cache');
      expect(again.headers.vary).toBe('Authorization, Origin, Accept-Encoding');
    }
    const other = await days.sender.get(path, { 'If-None-Match': '"other"' });
    expect([other.status, other.text]).toEqual([200, first.text]);
  });

  test('the ETag changes with the answer', async () => {
    const source = await weir().source({ delivery: 'document' });
    await send(source, 'day,amount\n2026-03-01,1\n');
    const path = '/v1/samples?from=2026-03-01&to=2026-03-02';
    const { etag } = (await source.sender.get(path)).headers;
    await send(source, 'day,amount\n2026-03-01,2\n');
    const later = await source.sender.get(path, { 'If-None-Match': etag! });
    expect(later.status).toBe(200);
    expect(jsonOf<Samples>(later).samples.map(({ value }) => value)).toEqual(['2']);
  });

  test('gzip comes where it is accepted, with an ETag of its own', async () => {
    const path = '/v1/samples?from=2025-01-01&to=2026-01-01';
    const plain = await days.sender.get(path);
    expect(plain.headers['content-encoding']).toBeUndefined();
    for (const accept of ['gzip', 'br, GZIP;q=0.5', 'deflate, gzip;q=1.0, *;q=0.1']) {
      const zipped = await days.sender.get(path, { 'Accept-Encoding': accept });
      expect(zipped.headers['content-encoding']).toBe('gzip');
      expect(gunzipSync(zipped.body).toString()).toBe(plain.text);
      expect(zipped.headers.etag).not.toBe(plain.headers.etag);
      const known = { 'Accept-Encoding': accept, 'If-None-Match': zipped.headers.etag! };
      expect((await days.sender.get(path, known)).status).toBe(304);
    }
    for (const accept of ['', 'br', 'gzip;q=0', 'identity, gzip;q=0.000', 'xgzip']) {
      const answer = await days.sender.get(path, { 'Accept-Encoding': accept });
      expect(answer.headers['content-encoding']).toBeUndefined();
      expect(digest(answer.body)).toBe(digest(plain.body));
    }
  });
}

const visits = [
  { name: 'day', role: 'period' },
  { name: 'device', role: 'label' },
  { name: 'place', role: 'label' },
  { name: 'visits', role: 'value', metric: 'visits' },
] as const;

async function send(source: TestSource, csv: string): Promise<void> {
  const answer = await source.sender.document(csv);
  accepted(answer);
  const view = await source.sender.settled(answer);
  expect([view.status, view.counts.rejected]).toEqual(['parsed', 0]);
}

/** The order of DECISIONS 8, written down once more. */
function specifiedOrder(a: Sample, b: Sample): number {
  const byText = (x: string, y: string) => Buffer.compare(Buffer.from(x), Buffer.from(y));
  return (
    byText(b.period_start, a.period_start) ||
    byText(a.metric, b.metric) ||
    byText(canonical(a.labels), canonical(b.labels)) ||
    Number(a.sandbox) - Number(b.sandbox)
  );
}

function canonical(labels: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.fromEntries(Object.entries(labels).sort()));
}

function todayIn(timeZone: string): string {
  return new Intl.DateTimeFormat('sv-SE', { timeZone }).format(new Date());
}

function shift(day: string, by: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + by * 86_400_000).toISOString().slice(0, 10);
}

function pad(i: number): string {
  return String(i).padStart(4, '0');
}

function digest(bytes: Buffer): string {
  return createHash('sha256').update(bytes).digest('hex');
}
