import { gzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { RowPieces } from '../../src/parse/messages.ts';
import { parseDelivery } from '../../workers/delivery.ts';
import { someInput } from './some-delivery.ts';

const rows = Array.from({ length: 160_000 }, (_, i) => {
  const day = new Date(Date.UTC(2015, 0, 1 + (i % 3_000))).toISOString().slice(0, 10);
  return `${day},s${i % 40},${i % 9_000 === 0 ? 'x' : `${i}.50`},${i % 7 === 0 ? '' : i}\n`;
});
const csv = `day,shop,revenue,orders\n${rows.join('')}`;
const input = someInput({ encoding: 'gzip' });

test('rows that are too many to hold are handed on while the body is read again', async () => {
  const received = gzipSync(csv);
  const handed: RowPieces[] = [];
  let underWay = 0;
  const parsed = await parseDelivery(input, received, async (pieces) => {
    underWay++;
    expect(underWay).toBe(1);
    // Whole rows: each of them is inserted by itself.
    for (const one of [pieces.sampleRows, pieces.rejectionRows]) {
      if (one.length > 0) expect(one.at(-1)!.at(-1)).toBe(0x0a);
    }
    handed.push(pieces);
    await new Promise((resolve) => setImmediate(resolve));
    underWay--;
  });
  const all = await parseDelivery(input, received);
  expect(handed.length).toBeGreaterThan(5);
  const { counts, status, valuesSeen } = all;
  expect(parsed).toMatchObject({ counts, status, valuesSeen });
  for (const kind of ['sample', 'rejection'] as const) {
    const given = [...handed, parsed];
    const pieces = given.flatMap((one) => one[`${kind}Rows`]);
    expect(Buffer.concat(pieces).equals(Buffer.concat(all[`${kind}Rows`]))).toBe(true);
    const count = given.reduce((sum, one) => sum + one[`${kind}RowCount`], 0);
    expect(count).toBe(all[`${kind}RowCount`]);
  }
  expect(all.sampleRowCount).toBe(counts.samples + counts.supersededWithin);
});

test('no row is handed on when the last byte of the body is bad', async () => {
  const received = gzipSync(Buffer.concat([Buffer.from(csv), Buffer.from([0xff])]));
  const parsed = await parseDelivery(input, received, async () => expect.fail('rows were given'));
  expect(parsed).toMatchObject({
    ...{ status: 'rejected', refusal: { code: 'invalid_utf8' }, sampleRows: [] },
  });
});

test('a hand that takes no more rows ends the parse', async () => {
  let taken = 0;
  const parse = parseDelivery(input, gzipSync(csv), async () => {
    taken++;
    throw new Error('no more');
  });
  await expect(parse).rejects.toThrow('no more');
  expect(taken).toBe(1);
});
