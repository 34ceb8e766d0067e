import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import type { ParseInput } from '../../src/parse/messages.ts';
import { locateRecords } from '../../workers/locate.ts';
import { parsed, someFields, someInput } from './some-delivery.ts';

async function locate(body: string | Buffer, record: number, change: Partial<ParseInput> = {}) {
  const input = someInput(change);
  const [found] = await locateRecords({ input, records: [record] }, Buffer.from(body));
  return found!;
}

/** The bytes of the record that was found, as text. */
async function stretch(body: string, record: number, change: Partial<ParseInput> = {}) {
  const { bytes } = (await locate(body, record, change))!;
  return Buffer.from(body).subarray(bytes!.from, bytes!.to).toString();
}

describe('a record is found by its number', () => {
  const csv = '\ufeffday,shop,revenue,note\r\n2024-05-01,"Kö""ln\n",1,x\r\n\r\n2024-05-02,s2,2,y';

  test('in CSV, with its line, its bytes and its fields', async () => {
    expect(await locate(csv, 1)).toEqual({
      line: 2,
      bytes: { from: 26, to: 26 + Buffer.byteLength('2024-05-01,"Kö""ln\n",1,x') },
      fields: { day: '2024-05-01', shop: 'Kö"ln\n', revenue: '1', note: null },
      ...{ masked: ['note'], cut: false },
    });
    expect(await stretch(csv, 1)).toBe('2024-05-01,"Kö""ln\n",1,x');
    expect(await stretch(csv, 2)).toBe('2024-05-02,s2,2,y');
    expect((await locate(csv, 2))!.line).toBe(5);
    expect(await locate(csv, 3)).toBeNull();
  });

  test('in JSON, from its first bracket to its last', async () => {
    const change = { format: 'json' } as const;
    const one = '{"day":"2024-05-01","shop":"ö","revenue":10.50}';
    const two = '{"shop":[1,{"a":"]"}],"revenue":null,"other":1,"day":true}';
    const body = `\ufeff\n[ ${one},\n\t${two} ,7]`;
    expect(await stretch(body, 1, change)).toBe(one);
    expect(await stretch(body, 2, change)).toBe(two);
    expect(await stretch(body, 3, change)).toBe('7');
    expect((await locate(body, 1, change))!.fields).toEqual({
      ...{ day: '2024-05-01', shop: 'ö', revenue: '10.50' },
    });
    expect((await locate(body, 2, change))!.fields).toEqual({
      ...{ day: null, shop: null, revenue: null, other: null },
    });
    expect((await locate(body, 3, change))!.fields).toEqual({});
    expect(await stretch(`  ${one}\n`, 1, change)).toBe(one);
  });

  test('in newline-delimited JSON, as its line', async () => {
    const change = { format: 'ndjson' } as const;
    const body = `{"day":"ü"}\r\n\n \t\n{"shop":"s"}\n{"day":"x"}`;
    expect(await stretch(body, 1, change)).toBe('{"day":"ü"}');
    expect(await stretch(body, 2, change)).toBe('{"shop":"s"}');
    expect(await stretch(body, 3, change)).toBe('{"day":"x"}');
    expect((await locate(body, 2, change))!.line).toBe(4);
  });

  test('in a push, as the whole body', async () => {
    const change = { delivery: 'push', mediaType: 'application/json' } as const;
    const body = '{"payload":{"day":"2024-05-01","shop":"s1","secret":"x"}}';
    expect(await stretch(body, 1, change)).toBe(body);
    expect((await locate(body, 1, change))!.fields).toEqual({
      ...{ day: '2024-05-01', shop: 's1', secret: null },
    });
  });

  test('in what was unpacked, where the body came packed', async () => {
    const found = await locate(gzipSync(csv), 2, { encoding: 'gzip' });
    expect(found).toEqual(await locate(csv, 2));
  });

  test('with others at once, in the order they were asked for', async () => {
    const task = { input: someInput(), records: [2, 9, 1] };
    const found = await locateRecords(task, Buffer.from(csv));
    expect(found).toEqual([await locate(csv, 2), null, await locate(csv, 1)]);
  });

  test('and no more of it is given than was to be shown', async () => {
    const task = { input: someInput(), records: [1], shownMax: { fields: 3, chars: 4 } };
    const [found] = await locateRecords(task, Buffer.from(csv));
    expect(found).toMatchObject({ fields: { day: '2024', shop: 'Kö"l', reve: '1' }, cut: true });
    expect(Object.keys(found!.fields)).toHaveLength(3);
  });
});

test('what is personal or undeclared is named, and its text is nowhere', async () => {
  const fields: Field[] = [...someFields, { name: 'customer', personal: true }, { name: 'memo' }];
  const body = 'day,shop,revenue,customer,memo,extra\n2024-05-01,s1,1,canary,free text,canary\n';
  const found = await locate(body, 1, { fields, personalNow: ['memo'] });
  expect(found!.fields).toEqual({
    ...{ day: '2024-05-01', shop: 's1', revenue: '1', customer: null, memo: null, extra: null },
  });
  expect(found!.masked).toEqual(['customer', 'memo', 'extra']);
  const open = await locate(body, 1, { fields });
  expect(open!.fields).toMatchObject({ customer: null, memo: 'free text' });
});

test('each sample leads to the record that holds its value, however it is cut', async () => {
  const cell = fc.stringMatching(/^[a-zäß"\n,]{0,6}$/).filter((text) => !text.includes('\0'));
  const records = fc.array(fc.record({ shop: cell, revenue: fc.nat(999) }), { minLength: 1 });
  await fc.assert(
    fc.asyncProperty(records, fc.constantFrom('csv', 'json', 'ndjson'), async (rows, format) => {
      const objects = rows.map((row) => JSON.stringify({ day: '2024-05-01', ...row }));
      const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
      const lines = rows.map((row) => `2024-05-01,${quoted(row.shop)},${row.revenue}`);
      const bodies = {
        csv: ['day,shop,revenue', ...lines].join('\n'),
        json: `[${objects.join(', ')}]`,
        ndjson: objects.join('\n'),
      };
      const body = bodies[format as keyof typeof bodies];
      const change = { format: format as keyof typeof bodies };
      const { samples } = await parsed(body, change);
      for (const { record, value, labels } of samples) {
        const found = (await locate(body, record, change))!;
        expect(found.fields).toMatchObject({ revenue: value, ...JSON.parse(labels) });
        expect(await stretch(body, record, change)).toBe(
          format === 'csv' ? lines[record - 1] : objects[record - 1],
        );
      }
    }),
    { numRuns: 60 },
  );
});
