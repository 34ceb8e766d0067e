import { gzipSync } from 'node:zlib';
import { describe, expect, test, vi } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { CsvRows } from '../../workers/csv.ts';
import { parseDelivery } from '../../workers/delivery.ts';
import { parsed, someInput } from './some-delivery.ts';

const header = 'day,shop,note,revenue\n';
const plainRows = '2024-05-01,a,n,1\n'.repeat(100);
const withNote = (note: string, end = '\n') => `${header}${plainRows}2024-05-02,b,${note},2${end}`;

test('a long cell of many lines is not read again with each of them', async () => {
  let read = 0;
  const { add } = CsvRows.prototype;
  const spy = vi.spyOn(CsvRows.prototype, 'add').mockImplementation(function (
    this: CsvRows,
    text,
    last,
  ) {
    read += this.rest.length + text.length;
    add.call(this, text, last);
  });
  const body = withNote(`"${'a line\n'.repeat(20_000)}"`);
  const { counts } = await parsed(body);
  spy.mockRestore();
  expect(counts).toMatchObject({ records: 101, parsed: 101 });
  expect(read).toBeLessThan(4 * body.length);
});

describe('a cell as long as may be is taken wherever it is cut:', () => {
  const most = limits.cellCharsMax;
  const quoted = (inner: string) => `"${inner}"`;

  test.each([
    ['plain', 'x'.repeat(most), '\r\n'],
    ['quoted', quoted('x'.repeat(most)), '\n'],
    ['of quotes', quoted('""'.repeat(most)), '\n'],
    ['of lines', quoted('""\n'.repeat(most / 2)), '\r\n'],
  ])('%s', async (_, note, end) => {
    for (const body of [withNote(note, end), `${header}2024-05-02,b,,2\n2024-05-02,b,${note},2`]) {
      const whole = await parsed(body);
      expect(whole.refusal).toBeNull();
      const packed = gzipSync(`${body}\n${'x'.repeat(3_000)}\n`, { level: 1 });
      const pieces = await parsed(packed, { encoding: 'gzip' });
      expect(pieces).toMatchObject({ refusal: null, samples: whole.samples });
    }
  });

  test('and one character more is refused', async () => {
    for (const cell of ['x'.repeat(most + 1), quoted('""'.repeat(most + 1))]) {
      const { refusal } = await parsed(withNote(cell));
      expect(refusal?.code).toBe('cell_too_long');
      const packed = gzipSync(withNote(cell), { level: 1 });
      const pieces = await parsed(packed, { encoding: 'gzip' });
      expect(pieces.refusal?.code).toBe('cell_too_long');
    }
  });

  test('also in the last column, between CR and LF', () => {
    for (const cell of ['x'.repeat(most), quoted('x'.repeat(most)), quoted('""'.repeat(most))]) {
      const text = `a,${cell}\r\nb,c\r\n`;
      for (const back of [8, 7, 6, 9, 10]) {
        const csv = new CsvRows(',');
        csv.add(text.slice(0, -back), false);
        expect(csv.next()).toBeNull();
        csv.add(text.slice(-back), true);
        expect([csv.problem, csv.next()?.length, csv.next()]).toEqual([null, 2, ['b', 'c']]);
      }
    }
  });

  test('in a body that is read twice', async () => {
    const fields = [
      { name: 'day', role: 'period' as const },
      ...Array.from({ length: 40 }, (_, i) => ({
        ...{ name: `m${i}`, role: 'value' as const, metric: `m${i}` },
      })),
    ];
    const metrics = fields.slice(1).map(({ name }) => ({
      ...{ key: name, name, unit: 'one', labels: [] },
    }));
    const names = ['note', ...fields.map(({ name }) => name)].join(',');
    const values = ',1'.repeat(40);
    const rows = `,2024-05-01${values}\n`.repeat(36_000);
    const body = `${names}\n"${'""'.repeat(most)}",2024-05-02${values}\n${rows}`;
    let handed = 0;
    const { status } = await parseDelivery(
      someInput({ fields, metrics }),
      Buffer.from(body),
      async ({ sampleRowCount }) => {
        handed += sampleRowCount;
      },
    );
    expect(status).toBe('parsed');
    expect(handed).toBeGreaterThan(1_000_000);
  });
});
