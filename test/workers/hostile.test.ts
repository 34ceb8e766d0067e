import { createHash, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { gzipSync, zstdCompressSync } from 'node:zlib';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { Piscina } from 'piscina';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { ParseAnswer, ParseInput, ParseTask } from '../../src/parse/messages.ts';
import { rowOf, xlsxOf } from './make-xlsx.ts';
import { decoded, someInput } from './some-delivery.ts';

/** What a body may do to the thread that reads it; after each, the same thread reads the next. */

/** The first rejections of a record that holds none of the fields. */
const allMissing = [
  '1 day field_missing',
  '1.1 line NULL shop field_missing',
  '1.2 line NULL revenue field_missing',
].join('; ');

let directory: string;
let artifacts: ArtifactStore;
let pool: Piscina<ParseTask, ParseAnswer>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-hostile-'));
  const settings = { artifactsUrl: pathToFileURL(directory).href };
  artifacts = openArtifacts(settings.artifactsUrl);
  await artifacts.prepare();
  const filename = new URL('../../workers/parse.ts', import.meta.url).href;
  pool = new Piscina({ filename, workerData: settings, minThreads: 1, maxThreads: 1 });
});

afterAll(async () => {
  await pool.destroy();
  await artifacts.close();
  await rm(directory, { recursive: true });
});

async function parse(body: Buffer, change: Partial<ParseInput>) {
  const object = `2024/05/01/${randomUUID()}`;
  const sha256 = createHash('sha256').update(body).digest();
  const { artifactId, sourceId } = someInput();
  const upload = artifacts.begin(object, body.length, {
    ...{ artifactId, sourceId, sandbox: false, idempotencyKey: object, shapeVersion: 1 },
    ...{ delivery: 'document', mediaType: 'application/octet-stream', encoding: 'identity' },
    receivedAt: 1_714_560_000_000,
  });
  await upload.write(body);
  await upload.commit(sha256);
  const place = { object, offset: 0, length: body.length };
  const input = someInput({ ...change, place, sha256: sha256.toString('hex') });
  const { outcomes } = await pool.run({ deliveries: [input] });
  if (outcomes[0]?.kind !== 'done') expect.fail(`the outcome is ${outcomes[0]?.kind}`);
  return decoded(input, outcomes[0]);
}

/** `code line field`, or how many records were parsed and rejected, with their rejections. */
async function outcome(body: Buffer, change: Partial<ParseInput>): Promise<string> {
  const { refusal, counts, rejections, samples } = await parse(body, change);
  if (refusal === null) {
    const found = rejections.map((line) => line.replace('.0 line NULL', '')).slice(0, 3);
    return [`${counts.parsed} parsed, ${counts.rejected} rejected`, ...found].join('; ');
  }
  expect([samples, rejections, counts.records]).toEqual([[], [], 0]);
  const { code, line, field } = refusal;
  return [code, line, field].filter((part) => part !== null).join(' ');
}

const csv = (rows: string) => Buffer.from(`day,shop,revenue\n${rows}`);
const json = (text: string) => Buffer.from(text);
const good = '{"day":"2024-05-01","shop":"s","revenue":1}';
const asJson = { format: 'json' } as const;
const asNdjson = { format: 'ndjson' } as const;
const asXlsx = { format: 'xlsx' } as const;
const asParquet = { format: 'parquet' } as const;
const gzip = { encoding: 'gzip' } as const;
const zstd = { encoding: 'zstd' } as const;
const head = rowOf(1, ['day', 'shop', 'revenue']);
const xlsx = (rows: string, more = {}) => xlsxOf({ rows: head + rows, ...more });
const row = (cell: string) => rowOf(2, ['2024-05-01', 's', cell]);

const columns = (count: number) => Array.from({ length: count }, (_, i) => `c${i}`);
const megabyteCell = 'x'.repeat(1_000_000);

function parquet(change: (footer: Buffer) => void = () => {}): Buffer {
  const data = Array.from({ length: 1_000 }, (_, i) => i % 30);
  const bytes = Buffer.from(
    parquetWriteBuffer({
      columnData: [
        { name: 'day', data: data.map(() => '2024-05-01'), type: 'STRING' },
        { name: 'shop', data: data.map((i) => `s${i}`), type: 'STRING' },
        { name: 'revenue', data },
      ],
    }),
  );
  change(bytes);
  return bytes;
}

/** Replaces bytes that occur in the file; the length stays. */
function replaced(bytes: Buffer, from: string, to: string): void {
  const found = Buffer.from(from, 'hex');
  let at = bytes.indexOf(found);
  expect(at).toBeGreaterThanOrEqual(0);
  for (; at >= 0; at = bytes.indexOf(found, at + 1)) bytes.write(to, at, 'hex');
}

test.each<[string, Partial<ParseInput>, () => Buffer, string]>([
  ['an unclosed quote', {}, () => csv('2024-05-01,"s,1\n'.repeat(9_999)), 'quote_misplaced 3'],
  ['a quote open to the end', {}, () => csv(`2024-05-01,"${megabyteCell}`), 'quote_not_closed 2'],
  [
    'a cell of 50 MB',
    gzip,
    () => gzipSync(csv(`2024-05-01,${'x'.repeat(50_000_000)},1\n`)),
    'cell_too_long 2',
  ],
  [
    'a quoted cell of 50 MB',
    zstd,
    () => zstdCompressSync(csv(`2024-05-01,"${'x,'.repeat(25_000_000)}",1\n`)),
    'cell_too_long 2',
  ],
  [
    'a row of cells of 1 MB each',
    gzip,
    () => gzipSync(csv(`${megabyteCell},`.repeat(20))),
    'record_too_long 2',
  ],
  ['only CR', {}, () => Buffer.from('day,shop,revenue\r2024-05-01,s,1\r'), 'line_end_invalid'],
  [
    '100 MB of CR',
    gzip,
    () => gzipSync(Buffer.from('day,shop,revenue\r2024-05-01,s,1\r'.repeat(3_000_000))),
    'line_end_invalid',
  ],
  ['NUL in a label', {}, () => csv('2024-05-01,a\0b,1\n'), '1 parsed, 0 rejected'],
  [
    'NUL in a value',
    {},
    () => csv('2024-05-01,s,1\0\n'),
    '0 parsed, 1 rejected; 1.0 line 2 revenue value_not_decimal',
  ],
  ['nothing but NUL', {}, () => Buffer.alloc(5_000_000), 'cell_too_long 1'],
  ['lone surrogates in CSV', {}, () => Buffer.from([0x61, 0xed, 0xa0, 0x80]), 'invalid_utf8'],
  ['lone surrogates in JSON', asJson, () => json('[{"day":"\\udc00"}]'), 'lone_surrogate'],
  ['UTF-16', {}, () => Buffer.from('\ufeffday,shop,revenue\n', 'utf16le'), 'invalid_utf8'],
  ['UTF-16 JSON', asJson, () => Buffer.from(`[${good}]`, 'utf16le'), 'invalid_json'],
  ['a depth of a million', asJson, () => json('['.repeat(1_000_000)), 'json_too_deep'],
  [
    'a depth of a million in a field',
    asJson,
    () => json(`[{"x":${'{"a":'.repeat(1_000_000)}1${'}'.repeat(1_000_000)}}]`),
    'json_too_deep',
  ],
  [
    'a depth of a million on a line',
    asNdjson,
    () => json(`${good}\n${'['.repeat(1_000_000)}\n`),
    'json_too_deep 2',
  ],
  [
    'a depth of a million in a push',
    { delivery: 'push', mediaType: 'application/json' },
    () => json(`{"payload":${'['.repeat(1_000_000)}`),
    'json_too_deep',
  ],
  [
    '__proto__ and constructor',
    asJson,
    () => json(`[{"__proto__":{"day":"x"},"constructor":1,"toString":2,${good.slice(1)}]`),
    '1 parsed, 0 rejected',
  ],
  [
    '__proto__ instead of fields',
    asJson,
    () => json(`[{"__proto__":${good}}]`),
    `0 parsed, 1 rejected; ${allMissing}`,
  ],
  [
    '__proto__ in a header',
    {},
    () => Buffer.from('__proto__,day,shop,revenue\nx,2024-05-01,s,1\n'),
    '1 parsed, 0 rejected',
  ],
  [
    'duplicate keys',
    asJson,
    () => json(`[{"revenue":"x","day":"y",${good.slice(1)}]`),
    '1 parsed, 0 rejected',
  ],
  [
    'duplicate columns',
    {},
    () => Buffer.from('day,shop,day,revenue\n'),
    'header_field_twice 1 day',
  ],
  [
    '100,000 columns',
    {},
    () => Buffer.from(`${columns(100_000).join(',')}\n`),
    'too_many_columns 1',
  ],
  [
    '100,000 quoted columns',
    {},
    () => Buffer.from(`"${columns(100_000).join('","')}"\n`),
    'too_many_columns 1',
  ],
  [
    '100,000 cells in a row',
    {},
    () => csv(`${columns(100_000).join(',')}\n`),
    'too_many_columns 2',
  ],
  ['8 MB of commas', {}, () => Buffer.alloc(8_000_000, ','), 'too_many_columns 1'],
  ['8 MB of quotes', {}, () => Buffer.alloc(8_000_000, '"'), 'cell_too_long 1'],
  ['8 MB of line ends', {}, () => Buffer.alloc(8_000_000, '\n'), 'header_missing'],
  ['8 MB of spaces', asJson, () => Buffer.alloc(8_000_000, ' '), 'invalid_json'],
  ['8 MB of digits', asJson, () => json(`[{"revenue":${'9'.repeat(8_000_000)}}]`), 'cell_too_long'],
  ['8 MB of commas in JSON', asJson, () => json(`[${','.repeat(8_000_000)}]`), 'invalid_json'],
  [
    'two hundred thousand empty objects',
    asJson,
    () => json(`[${'{},'.repeat(200_000)}{}]`),
    `0 parsed, 200001 rejected; ${allMissing}`,
  ],
  ['six million records', gzip, () => gzipSync(csv('x\n'.repeat(6_000_000))), 'too_many_records'],
  [
    'a bomb of good rows',
    zstd,
    () => zstdCompressSync(csv('2024-05-01,s,1\n'.repeat(10_000_000))),
    'unpack_ratio',
  ],
  ['a bomb in a bomb', gzip, () => gzipSync(gzipSync(Buffer.alloc(50_000_000))), 'invalid_utf8'],
  [
    'a zip with a size too small',
    asXlsx,
    () => xlsx(row('1'), { lies: { bytes: 1 } }),
    'zip_false',
  ],
  [
    'a zip with a size too large',
    asXlsx,
    () => xlsx(row('1'), { lies: { bytes: 4_000_000_000 } }),
    'zip_false',
  ],
  ['a zip bomb', asXlsx, () => xlsx(' '.repeat(200_000_000)), 'cell_too_long'],
  [
    'a zip bomb of tags',
    asXlsx,
    () => xlsx('<row></row>'.repeat(20_000_000), { lies: { bytes: 220_000_200 } }),
    'xlsx_invalid',
  ],
  [
    'rows far apart',
    asXlsx,
    () => xlsx(rowOf(1_048_576, ['2024-05-01', 's', '<c><v>1</v></c>'])),
    '1 parsed, 0 rejected',
  ],
  [
    'columns far apart',
    asXlsx,
    () => xlsx('<row r="2"><c r="NTP2"><v>1</v></c></row>'),
    '0 parsed, 1 rejected; 1.0 line 2 NULL cell_count',
  ],
  [
    'entities in one another',
    asXlsx,
    () => xlsxOf({ sheet: '<!DOCTYPE a [<!ENTITY b "&c;">]><a>&b;</a>' }),
    'xlsx_invalid',
  ],
  [
    'an element that never ends',
    asXlsx,
    () => xlsxOf({ sheet: `<a ${'b '.repeat(4_000_000)}` }),
    'cell_too_long',
  ],
  [
    'a comment that never ends',
    asXlsx,
    () => xlsxOf({ sheet: `<!--${'<>'.repeat(4_000_000)}` }),
    'cell_too_long',
  ],
  [
    'formula cells',
    asXlsx,
    () =>
      xlsx(
        rowOf(2, ['2024-05-01', 's', '<c><f>HYPERLINK("x")</f><v>2</v></c>']) +
          rowOf(3, ['2024-05-01', 's', '<c><f>A1</f></c>']) +
          rowOf(4, ['2024-05-01', 's', '<c t="e"><f>1/0</f><v>#DIV/0!</v></c>']),
      ),
    '1 parsed, 2 rejected; 2.0 line 3 revenue formula_not_computed; 3.0 line 4 revenue cell_error',
  ],
  [
    'one text of 1 MB in every cell',
    asXlsx,
    () => {
      const cells = '<row><c t="s"><v>0</v></c><c t="s"><v>0</v></c></row>';
      return xlsx(cells.repeat(10_000), { strings: `<si><t>${megabyteCell}</t></si>` });
    },
    'unpacked_too_large',
  ],
  ['a sound Parquet file', asParquet, () => parquet(), '1000 parsed, 0 rejected'],
  [
    'a footer as long as the file',
    asParquet,
    () => parquet((b) => b.writeUInt32LE(b.length, b.length - 8)),
    'parquet_invalid',
  ],
  [
    'a footer of other bytes',
    asParquet,
    () => parquet((b) => b.fill(0xff, b.length - 200, b.length - 8)),
    'parquet_invalid',
  ],
  // 1,000 rows as a zigzag varint, in footer, row group, column and page.
  [
    'more rows than there are',
    asParquet,
    () => parquet((b) => replaced(b, 'd00f', 'fe7f')),
    'parquet_invalid',
  ],
  [
    'fewer rows than there are',
    asParquet,
    () => parquet((b) => replaced(b, 'd00f', 'd000')),
    'parquet_invalid',
  ],
  [
    'a footer that nests without end',
    asParquet,
    () => {
      const footer = Buffer.alloc(3_000_000, 0x1c);
      const length = Buffer.alloc(4);
      length.writeUInt32LE(footer.length);
      return Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')]);
    },
    'parquet_invalid',
  ],
  [
    'a footer with a number of 3 MB',
    asParquet,
    () => {
      const footer = Buffer.alloc(3_000_000, 0xff);
      footer[0] = 0x16;
      const length = Buffer.alloc(4);
      length.writeUInt32LE(footer.length);
      return Buffer.concat([Buffer.from('PAR1'), footer, length, Buffer.from('PAR1')]);
    },
    'parquet_invalid',
  ],
])(
  '%s',
  async (_, change, body, expected) => {
    const before = pool.threads.map((thread) => thread.threadId);
    expect(await outcome(body(), change)).toBe(expected);
    const next = await parse(csv('2024-05-01,next,7\n'), {});
    expect(next.samples).toMatchObject([{ value: '7', labels: '{"shop":"next"}' }]);
    expect(pool.threads.map((thread) => thread.threadId)).toEqual(before);
  },
  60_000,
);
