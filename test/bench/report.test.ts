import { describe, expect, test } from 'vitest';
import type { Measured, Row } from '../../bench/measure.ts';
import { figure, goalText } from '../../bench/report/numbers.ts';
import { withNewest } from '../../bench/report/readme.ts';
import { resultRow } from '../../bench/report/result.ts';
import { beyondGoal, drawResults, xOf } from '../../bench/report/svg.ts';
import { tableMarkdown, tableText } from '../../bench/report/table.ts';
import { XmlReader } from '../../workers/xml.ts';

const measured: Measured = {
  ...{
    variant: '4 at once',
    judged: true,
    holds: false,
    rounds: 7,
    seconds: 1,
    notes: ['p50 3 ms'],
  },
  ...{ ours: 251.234567, theirs: 402.5, ratio: 0.624, spread: { low: 0.6, high: 0.65 } },
  goal: { value: 0.85, bound: 'at least', of: 'ratio' },
};
const beside: Measured = { ...measured, variant: 'a < b', judged: false };
const row: Row = {
  ...{ name: 'document-minio', title: 'one against another', unit: 'MB/s' },
  ...{ ...measured, all: [measured, beside] },
};

test('figures have the digits that say something', () => {
  expect([1_234.5, 123.4, 12.34, 1.234, 0.1234].map(figure)).toEqual([
    ...['1235', '123', '12.3', '1.23', '0.12'],
  ]);
});

test('a goal is said with its sign, and with its unit where it is about our own figure', () => {
  expect(goalText(measured.goal, 'MB/s')).toBe('≥ 0.85');
  expect(goalText({ value: 100, bound: 'at most', of: 'ours' }, 'MiB')).toBe('≤ 100 MiB');
});

test('the table has a line for each variant, in columns', () => {
  expect(tableText([resultRow(row)]).split('\n')).toEqual([
    'name            variant    ours  theirs  unit  ratio  spread       goal',
    '--------------  ---------  ----  ------  ----  -----  -----------  ------  ------',
    'document-minio  4 at once   251     403  MB/s   0.62  0.60 – 0.65  ≥ 0.85  missed',
    'document-minio  a < b       251     403  MB/s   0.62  0.60 – 0.65          beside',
  ]);
  expect(tableMarkdown([resultRow(row)]).split('\n')[2]).toBe(
    '| document-minio | 4 at once | 251 | 403 | MB/s | 0.62 | 0.60 – 0.65 | ≥ 0.85 | missed |',
  );
});

test('the README takes the newest result between its marks, and keeps the rest', () => {
  const machine = {
    ...{ cpu: 'Some CPU', cores: 2, memoryGiB: 24, kernel: 'Linux 6.1', loadBefore: 0.5 },
    versions: { node: '22.1.0' },
  };
  const date = '2026-11-21T03:04:05.000Z';
  const result = { commit: 'abc', date, size: 'full', machine, results: [resultRow(row)] };
  const readme = 'before\n<!-- newest -->\nold\n<!-- /newest -->\nafter\n';
  const found = withNewest(readme, result);
  expect(found).toMatch(/^before\n<!-- newest -->\n2026-11-21 03:04 UTC, commit abc, Some CPU/);
  expect(found).toContain('| document-minio | 4 at once | 251 |');
  expect(found).not.toContain('old');
  expect(found).toMatch(/\n<!-- \/newest -->\nafter\n$/);
  expect(() => withNewest('no marks', result)).toThrow('no place');
});

test('the result has what a program wants to know of each name', () => {
  const found = resultRow(row);
  expect(found).toMatchObject({
    ...{ name: 'document-minio', ours: 251.2, theirs: 402.5, unit: 'MB/s', ratio: 0.624 },
    ...{ goal: 0.85, bound: 'at least', of: 'ratio', holds: false },
    spread: { low: 0.6, high: 0.65 },
  });
  expect(found.variants.map(({ variant }) => variant)).toEqual(['4 at once', 'a < b']);
});

describe('the picture', () => {
  test('puts the goal in the middle, and what is equally far from it equally far away', () => {
    const middle = xOf(1);
    expect(xOf(2) - middle).toBeCloseTo(middle - xOf(0.5));
    expect(xOf(1_000)).toBe(xOf(8));
  });

  test('counts to the right what holds, whether more or less is better', () => {
    expect(beyondGoal({ goal: 2, bound: 'at least' }, 4)).toBe(2);
    expect(beyondGoal({ goal: 2, bound: 'at most' }, 4)).toBe(0.5);
  });

  test('is well-formed XML and says every variant with its figure', () => {
    const svg = drawResults([resultRow(row)], 'on some day');
    let text = '';
    const reader = new XmlReader({
      text: (part) => {
        text += `${part}\n`;
        return null;
      },
    });
    expect(reader.push(Buffer.from(svg)) ?? reader.end()).toBe(null);
    for (const part of ['on some day', 'document-minio', 'a < b', '0.62 (≥ 0.85)', '0.62']) {
      expect(text).toContain(part);
    }
  });
});
