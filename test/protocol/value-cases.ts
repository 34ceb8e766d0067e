import { expect, test } from 'vitest';
import type { TheWeir } from './suite.ts';

const long = '1234567890'.repeat(8);

/** Values are the text that was sent (specification, "Sample"; DECISIONS 2). */
export function valueCases(weir: TheWeir): void {
  const kept = [
    ...['0', '-0', '-0.00', '0.1', '10.50', '007', '1.0', '1.10', '100', '-1'],
    ...['0.30000000000000004', '9007199254740993', '12345678901234567890.123456789012345678901'],
    ...[long.slice(0, 76), `-${long.slice(0, 76)}`, `0.${long.slice(0, 75)}`],
    ...[`-${long.slice(0, 38)}.${long.slice(0, 38)}`, '0'.repeat(76)],
  ];
  const refused: Record<string, string> = {
    ...Object.fromEntries(
      [
        ...['1e3', '1E3', '+1', '.5', '5.', '1,5', '1 000', ' 1', '1 ', '0x1f', 'NaN', 'Infinity'],
        ...['--1', '-', '1.2.3', '١', '１', '1_000', '1\t', "1'000", 'n/a', '-.5', '\u22121'],
      ].map((text) => [text, 'value_not_decimal']),
    ),
    [long.slice(0, 77)]: 'value_too_long',
    [`-${long.slice(0, 77)}`]: 'value_too_long',
    [`0.${long.slice(0, 76)}`]: 'value_too_long',
    ['0'.repeat(77)]: 'value_too_long',
  };

  test('a push: every decimal of at most 76 digits comes back as sent', async () => {
    const { sender } = await weir().source();
    const sent = await Promise.all(kept.map((amount, i) => sender.push({ day: day(i), amount })));
    await Promise.all(sent.map((answer) => sender.settled(answer)));
    expect(await read(sender)).toEqual(kept);
  });

  test('a CSV document: the same', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const rows = kept.map((value, i) => `${day(i)},${i % 2 ? `"${value}"` : value}\n`);
    await sender.settled(await sender.document(`day,amount\n${rows.join('')}`));
    expect(await read(sender)).toEqual(kept);
  });

  test.each(['json', 'ndjson'] as const)('a document of %s: the same', async (format) => {
    const { sender } = await weir().source({ delivery: 'document', format });
    const records = kept.map((amount, i) => JSON.stringify({ day: day(i), amount }));
    const body = format === 'json' ? `[${records.join(',')}]` : records.join('\n');
    await sender.settled(await sender.document(body));
    expect(await read(sender)).toEqual(kept);
  });

  test('numbers in JSON documents are taken by their source text', async () => {
    const { sender } = await weir().source({ delivery: 'document', format: 'json' });
    const numbers = kept.filter((text) => /^-?(0|[1-9][0-9]*)(\.[0-9]+)?$/.test(text));
    expect(numbers).toContain('10.50');
    expect(numbers).toContain('-0.00');
    const records = numbers.map((number, i) => `{"day":"${day(i)}","amount":${number}}`);
    await sender.settled(await sender.document(`[${records.join(',')}]`));
    expect(await read(sender)).toEqual(numbers);
  });

  test('a JSON number with an exponent is no value', async () => {
    const { sender } = await weir().source({ delivery: 'document', format: 'json' });
    const body = '[{"day":"2026-03-01","amount":1e3},{"day":"2026-03-02","amount":1000}]';
    const view = await sender.settled(await sender.document(body));
    expect(view.rejections.map(({ record, code }) => [record, code])).toEqual([
      [1, 'value_not_decimal'],
    ]);
  });

  test('what is no plain decimal rejects its record, and only that', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const cells = Object.keys(refused);
    const rows = cells.map((text, i) => `${day(i)},"${text}"\n`);
    const csv = `day,amount\n${rows.join('')}2026-12-31,1\n`;
    const view = await sender.settled(await sender.document(csv));
    expect(view.rejections.map(({ record, code }) => [record, code])).toEqual(
      cells.map((text, i) => [i + 1, refused[text]]),
    );
    expect(await read(sender)).toEqual(['1']);
  });

  test('a blank value is no sample and no rejection', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const csv = 'day,amount\n2026-03-01,\n2026-03-02,""\n2026-03-03,1\n';
    const { counts } = await sender.settled(await sender.document(csv));
    const expected = { records: 3, parsed: 3, rejected: 0, samples: 1, blank: 2 };
    expect(counts).toEqual({ ...expected, superseded_within: 0 });
  });

  /** One day for each value, later ones earlier: a read gives them in their order. */
  function day(i: number): string {
    return new Date(Date.UTC(2026, 11, 31 - i)).toISOString().slice(0, 10);
  }

  async function read(sender: { samples(query: string): Promise<{ samples: readonly Read[] }> }) {
    const { samples } = await sender.samples('from=2026-01-01&to=2027-01-01');
    return samples.map(({ value }) => value);
  }
}

interface Read {
  readonly value: string;
}
