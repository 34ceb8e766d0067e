import { expect, test } from 'vitest';
import type { DocumentFormat } from '../../src/domain/nouns.ts';
import type { TheWeir } from './suite.ts';

const record = '{"day":"2026-03-01","amount":"1"}';

/** How documents of JSON and NDJSON are read (DECISIONS 2). */
export function jsonCases(weir: TheWeir): void {
  const readable: Record<string, readonly [DocumentFormat, string, readonly string[]]> = {
    'one object': ['json', record, ['1']],
    'an array of objects': ['json', `[${record}, ${record.replace('01"', '02"')}]`, ['1', '1']],
    'an empty array': ['json', '[]', []],
    'white space around': ['json', ` \r\n\t${record}\n `, ['1']],
    'the last of two equal names': [
      'json',
      '{"day":"2026-03-01","amount":"1","amount":"2"}',
      ['2'],
    ],
    'escaped names': ['json', '{"d\\u0061y":"2026-03-01","amount":"\\u0031"}', ['1']],
    'a null value is blank': ['json', '{"day":"2026-03-01","amount":null}', []],
    'one object a line': ['ndjson', `${record}\n{"day":"2026-03-02","amount":2}\r\n\n`, ['2', '1']],
    'an own member __proto__': ['json', `{"__proto__":{"amount":"9"},${record.slice(1)}`, ['1']],
  };
  test.each(Object.entries(readable))('%s is read', async (_, [format, body, values]) => {
    const { view, read } = await send(format, body);
    expect([view.status, view.rejections]).toEqual(['parsed', []]);
    expect(read).toEqual(values);
  });

  const unreadable: Record<string, readonly [DocumentFormat, string | Uint8Array, string]> = {
    'JSON cut short': ['json', `[${record}`, 'invalid_json'],
    'text after the JSON': ['json', `${record}x`, 'invalid_json'],
    'a number for a body': ['json', '5', 'json_not_records'],
    'invalid UTF-8': ['json', Buffer.from('{"day":"\xff"}', 'latin1'), 'invalid_utf8'],
    'a lone surrogate': ['json', `[${record},{"day":"\\ud800"}]`, 'lone_surrogate'],
    'a lone surrogate in an undeclared name': ['json', '{"\\udc00":1}', 'lone_surrogate'],
    'a line that is no JSON': ['ndjson', `${record}\nx\n`, 'invalid_json'],
    'nested too deep': ['json', '['.repeat(200_000), 'json_too_deep'],
  };
  test.each(Object.entries(unreadable))(
    '%s rejects the delivery, and none of its records is read',
    async (_, [format, body, code]) => {
      const { view, read } = await send(format, body);
      expect(view.status).toBe('rejected');
      expect(view.rejections).toMatchObject([{ record: null, code }]);
      expect(read).toEqual([]);
    },
  );

  test('a bad record is rejected with each of its fields, the others go on', async () => {
    const body = JSON.stringify([
      { day: '2026-03-01', amount: '1' },
      { day: 'x', amount: true },
      { amount: '1' },
      'text',
      { day: '2026-03-02' },
      { day: ['2026-03-02'], amount: {} },
      { day: '2026-03-03', amount: '3', extra: [1] },
    ]);
    const { view, read } = await send('json', body);
    expect(
      view.rejections.map(({ record: at, line, field, code }) => [at, line, field, code]),
    ).toEqual([
      [2, null, 'day', 'period_invalid'],
      [2, null, 'amount', 'not_text'],
      [3, null, 'day', 'field_missing'],
      [4, null, null, 'record_not_object'],
      [5, null, 'amount', 'field_missing'],
      [6, null, 'day', 'not_text'],
      [6, null, 'amount', 'not_text'],
    ]);
    expect(view.counts).toMatchObject({ records: 7, parsed: 2, rejected: 5, samples: 2 });
    expect(view.undeclared_fields).toEqual(['extra']);
    expect(read).toEqual(['3', '1']);
  });

  test('NDJSON rejections name their line', async () => {
    const { view } = await send('ndjson', `${record}\n\n{"day":"x","amount":"1"}\n`);
    expect(view.rejections).toMatchObject([{ record: 2, line: 3, field: 'day' }]);
  });

  async function send(format: DocumentFormat, body: string | Uint8Array) {
    const { sender } = await weir().source({ delivery: 'document', format });
    const view = await sender.settled(await sender.document(body));
    const { samples } = await sender.samples('from=2026-01-01&to=2027-01-01');
    return { view, read: samples.map(({ value }) => value) };
  }
}
