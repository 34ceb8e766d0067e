import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { DocumentFormat } from '../../src/domain/nouns.ts';
import type { TheWeir } from './suite.ts';

const fields = [
  { name: 'day', role: 'period' },
  { name: 'device', role: 'label' },
  { name: 'place', role: 'label' },
  { name: 'visits', role: 'value', metric: 'visits' },
  { name: 'note', required: false },
] as const;

/** How CSV and TSV documents are read (DECISIONS 2; RFC 4180). */
export function csvCases(weir: TheWeir): void {
  const one = [['2026-03-01', 'd', 'p', '1.50']];
  const readable: Record<string, readonly [string, readonly (readonly string[])[]]> = {
    'plain rows': ['day,device,place,visits\n2026-03-01,d,p,1.50\n', one],
    'a byte order mark': ['\ufeffday,device,place,visits\n2026-03-01,d,p,1.50\n', one],
    'CRLF line ends': ['day,device,place,visits\r\n2026-03-01,d,p,1.50\r\n', one],
    'mixed line ends': ['day,device,place,visits\r\n2026-03-01,d,p,1.50\n', one],
    'no end of the last line': ['day,device,place,visits\n2026-03-01,d,p,1.50', one],
    'empty lines': ['day,device,place,visits\n\n2026-03-01,d,p,1.50\n\r\n\n', one],
    'another column order': ['visits,place,day,device\n1.50,p,2026-03-01,d\n', one],
    'undeclared columns': ['x,day,device,place,y,visits\n0,2026-03-01,d,p,0,1.50\n', one],
    'a quoted header': ['"day","device","place","visits"\n2026-03-01,d,p,1.50\n', one],
    'quoted cells': ['day,device,place,visits\n"2026-03-01","d","p","1.50"\n', one],
    'quoted commas, quotes and newlines': [
      'day,device,place,visits\r\n2026-03-01,"a,b","say ""hi""\r\nand\nleave",1\r\n',
      [['2026-03-01', 'a,b', 'say "hi"\r\nand\nleave', '1']],
    ],
    'a quoted byte order mark within': [
      'day,device,place,visits\n2026-03-01,"\ufeff",p,1\n',
      [['2026-03-01', '\ufeff', 'p', '1']],
    ],
    'labels kept exactly as sent': [
      'day,device,place,visits\n2026-03-01, d ,Zürich 東京 🏔,1\n',
      [['2026-03-01', ' d ', 'Zürich 東京 🏔', '1']],
    ],
    'blank labels': ['day,device,place,visits\n2026-03-01,,"",1\n', [['2026-03-01', '', '', '1']]],
    'control characters in labels': [
      'day,device,place,visits\n2026-03-01,"a\0b",\t\u001b\\/,1\n',
      [['2026-03-01', 'a\0b', '\t\u001b\\/', '1']],
    ],
    'names that objects have': [
      'day,device,place,visits\n2026-03-01,__proto__,constructor,1\n',
      [['2026-03-01', '__proto__', 'constructor', '1']],
    ],
    'a header without rows': ['day,device,place,visits\n', []],
    'a header without rows or line end': ['day,device,place,visits', []],
  };
  test.each(Object.entries(readable))('%s are read', async (_, [csv, rows]) => {
    expect(await read(csv)).toEqual({ status: 'parsed', refusal: null, rows });
  });

  const unreadable: Record<string, readonly [string | Uint8Array, string, number | null]> = {
    'invalid UTF-8': [
      Buffer.from('day,device,place,visits\n2026-03-01,\xff,p,1\n', 'latin1'),
      ...(['invalid_utf8', null] as const),
    ],
    'Latin-1': [
      Buffer.from('day,device,place,visits\n2026-03-01,Z\xfcrich,p,1\n', 'latin1'),
      ...(['invalid_utf8', null] as const),
    ],
    'a surrogate in UTF-8': [
      Buffer.from('day,device,place,visits\n2026-03-01,\xed\xa0\x80,p,1\n', 'latin1'),
      ...(['invalid_utf8', null] as const),
    ],
    'a character cut off at the end': [
      Buffer.from('day,device,place,visits\n2026-03-01,d,p,1\n2026-03-02,d,\xe6\x9d', 'latin1'),
      ...(['invalid_utf8', null] as const),
    ],
    'a header without a required field': ['day,device,visits\n', 'header_field_missing', 1],
    'a header in other letters': ['Day,device,place,visits\n', 'header_field_missing', 1],
    'a header with a space': ['day, device,place,visits\n', 'header_field_missing', 1],
    'a header that names a field twice': [
      'day,device,place,visits,day\n',
      ...(['header_field_twice', 1] as const),
    ],
    'a quote that is not closed': [
      'day,device,place,visits\n2026-03-01,d,p,1\n2026-03-02,"d,p,1\n',
      ...(['quote_not_closed', 3] as const),
    ],
    'text after a quoted cell': [
      'day,device,place,visits\n2026-03-01,d,p,1\n2026-03-02,"d"x,p,1\n',
      ...(['quote_misplaced', 3] as const),
    ],
    'a quote within a plain cell': [
      'day,device,place,visits\n2026-03-01,d"x,p,1\n',
      ...(['quote_misplaced', 2] as const),
    ],
    'line ends of CR alone': [
      'day,device,place,visits\r2026-03-01,d,p,1\r',
      'line_end_invalid',
      null,
    ],
    'blank lines only': ['\n\n', 'header_missing', null],
  };
  test.each(Object.entries(unreadable))(
    '%s rejects the delivery, and none of its rows is read',
    async (_, [csv, code, line]) => {
      const found = await read(csv);
      expect(found.status).toBe('rejected');
      expect(found.refusal).toMatchObject({ record: null, code, line });
      expect(found.rows).toEqual([]);
    },
  );

  test('a row with another number of cells rejects that record only', async () => {
    const { sender } = await weir().source({ delivery: 'document', fields });
    const csv =
      'day,device,place,visits\n2026-03-01,d,p,1\n2026-03-02,d,p\n' +
      '2026-03-03,"d\n",p,1,5\n2026-03-04,d,p,4\n';
    const view = await sender.settled(await sender.document(csv));
    expect(view.status).toBe('parsed');
    const message = 'The row has another number of cells than the header.';
    expect(view.rejections).toEqual([
      { record: 2, line: 3, field: null, code: 'cell_count', message },
      { record: 3, line: 4, field: null, code: 'cell_count', message },
    ]);
    expect(view.counts).toMatchObject({ records: 4, parsed: 2, rejected: 2, samples: 2 });
  });

  test('an optional column may be absent', async () => {
    const { sender } = await weir().source({ delivery: 'document', fields });
    const csv = 'day,device,place,visits\n2026-03-01,d,p,1\n';
    const view = await sender.settled(await sender.document(csv));
    expect([view.counts.samples, view.undeclared_fields]).toEqual([1, []]);
  });

  test('a label of 1,024 characters is kept, one more rejects its record', async () => {
    const { sender } = await weir().source({ delivery: 'document', fields });
    const label = 'é'.repeat(1_024);
    const csv = `day,device,place,visits\n2026-03-01,${label},p,1\n2026-03-02,${label}x,p,2\n`;
    const view = await sender.settled(await sender.document(csv));
    expect(
      view.rejections.map(({ record, line, field, code }) => ({ record, line, field, code })),
    ).toEqual([{ record: 2, line: 3, field: 'device', code: 'label_too_long' }]);
    const { samples } = await sender.samples('from=2026-03-01&to=2026-04-01');
    expect(samples.map((sample) => sample.labels.device)).toEqual([label]);
  });

  test('tab-separated documents are read the same way', async () => {
    const tsv = 'day\tdevice\tplace\tvisits\n2026-03-01\t"a\tb"\tc,d\t1\n';
    const { rows } = await read(tsv, 'tsv');
    expect(rows).toEqual([['2026-03-01', 'a\tb', 'c,d', '1']]);
  });

  test('a long document names the metric in each row', async () => {
    const source = await weir().source({
      delivery: 'document',
      fields: [
        { name: 'day', role: 'period' },
        { name: 'metric', role: 'metric' },
        { name: 'value', role: 'value' },
        { name: 'device', role: 'label' },
        { name: 'place', role: 'label' },
      ],
    });
    const { sender } = source;
    const csv =
      'day,metric,value,device,place\n2026-03-01,amount,1,,\n2026-03-01,visits,2,d,p\n' +
      '2026-03-01,unknown,3,,\n2026-03-01,,4,,\n2026-03-01,cost,,,\n';
    const view = await sender.settled(await sender.document(csv));
    expect(view.rejections.map(({ record, field, code }) => [record, field, code])).toEqual([
      [3, 'metric', 'metric_undeclared'],
      [4, 'metric', 'metric_blank'],
    ]);
    expect(view.counts).toMatchObject({ records: 5, parsed: 3, rejected: 2, blank: 1, samples: 2 });
    const { samples } = await sender.samples('from=2026-03-01&to=2026-03-02');
    expect(samples.map(({ metric, value, labels }) => [metric, value, labels])).toEqual([
      ['amount', '1', {}],
      ['visits', '2', { device: 'd', place: 'p' }],
    ]);
  });

  test('a document with Content-Encoding is stored as it came', async () => {
    const { sender } = await weir().source({ delivery: 'document', fields });
    const zipped = gzipSync('day,device,place,visits\n2026-03-01,d,p,1\n');
    const answer = await sender.document(zipped, undefined, { 'Content-Encoding': 'gzip' });
    const view = await sender.settled(answer);
    expect(view.bytes).toBe(zipped.length);
  });

  async function read(body: string | Uint8Array, format: DocumentFormat = 'csv') {
    const { sender } = await weir().source({ delivery: 'document', fields, format });
    const view = await sender.settled(await sender.document(body));
    const { samples } = await sender.samples('from=2026-01-01&to=2027-01-01');
    const rows = samples.map(({ period_start, labels, value }) => {
      return [period_start, labels.device, labels.place, value];
    });
    const refusal = view.rejections.find(({ record }) => record === null) ?? null;
    return { status: view.status, refusal, rows };
  }
}
