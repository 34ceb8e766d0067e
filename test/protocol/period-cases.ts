import { expect, test } from 'vitest';
import type { Grain } from '../../src/domain/nouns.ts';
import type { TheWeir } from './suite.ts';

/** period_start is the first day of the period, in the company's zone (DECISIONS 2). */
export function periodCases(weir: TheWeir): void {
  const zones: Record<string, readonly (readonly [string, string])[]> = {
    'Europe/Berlin': [
      // Clocks go forward on 2026-03-29 and back on 2026-10-25, both at 01:00 UTC.
      ['2026-03-28T22:59:59Z', '2026-03-28'],
      ['2026-03-28T23:00:00Z', '2026-03-29'],
      ['2026-03-29T21:59:59Z', '2026-03-29'],
      ['2026-03-29T22:00:00Z', '2026-03-30'],
      ['2026-10-24T21:59:59.999Z', '2026-10-24'],
      ['2026-10-24T22:00:00Z', '2026-10-25'],
      ['2026-10-25T22:59:59Z', '2026-10-25'],
      ['2026-10-25T23:00:00Z', '2026-10-26'],
      ['2026-03-29T02:30:00', '2026-03-29'],
      ['2026-10-25T02:30:00', '2026-10-25'],
      ['2026-07-01T00:00:00+14:00', '2026-06-30'],
      ['2026-07-01T23:59:59-12:00', '2026-07-02'],
    ],
    'America/New_York': [
      ['2026-03-08T04:59:59Z', '2026-03-07'],
      ['2026-03-08T05:00:00Z', '2026-03-08'],
      ['2026-03-09T03:59:59Z', '2026-03-08'],
      ['2026-03-09T04:00:00Z', '2026-03-09'],
      ['2026-11-01T03:59:59Z', '2026-10-31'],
      ['2026-11-01T04:00:00Z', '2026-11-01'],
      ['2026-11-02T04:59:59Z', '2026-11-01'],
      ['2026-11-02T05:00:00Z', '2026-11-02'],
    ],
    'Pacific/Apia': [
      // 2011-12-30 did not exist in Samoa.
      ['2011-12-30T09:59:59Z', '2011-12-29'],
      ['2011-12-30T10:00:00Z', '2011-12-31'],
    ],
    'Asia/Kathmandu': [
      ['2026-01-01T18:14:59Z', '2026-01-01'],
      ['2026-01-01T18:15:00Z', '2026-01-02'],
    ],
  };
  test.each(Object.entries(zones))('date-times land on the day of %s', async (timezone, rows) => {
    const fields = [
      { name: 'at', role: 'period' },
      { name: 'device', role: 'label' },
      { name: 'place', role: 'label' },
      { name: 'visits', role: 'value', metric: 'visits' },
    ] as const;
    const { sender } = await weir().source({ delivery: 'document', timezone, fields });
    const lines = rows.map(([text]) => `${text},x,${text},1\n`);
    const body = `at,device,place,visits\n${lines.join('')}`;
    const view = await sender.settled(await sender.document(body));
    expect(view.rejections).toEqual([]);
    const year = rows[0]![1].slice(0, 4);
    const { samples } = await sender.samples(`from=${year}-01-01&to=${Number(year) + 1}-01-01`);
    const days = new Map(samples.map((sample) => [sample.labels.place, sample.period_start]));
    expect(Object.fromEntries(days)).toEqual(Object.fromEntries(rows));
  });

  const grains: readonly (readonly [Grain, Record<string, string>])[] = [
    ['day', { '2024-02-29': '2024-02-29', '1900-01-01': '1900-01-01', '2299-12-31': '2299-12-31' }],
    ['week', { '2026-W01': '2025-12-29', '2026-03-01': '2026-02-23', '2020-W53': '2020-12-28' }],
    ['month', { '2026-02': '2026-02-01', '2024-02-29': '2024-02-01', '2299-12-31': '2299-12-01' }],
    ['quarter', { '2026-Q2': '2026-04-01', '2026-06': '2026-04-01', '2025-10-01': '2025-10-01' }],
    ['year', { '2026': '2026-01-01', '2025-Q3': '2025-01-01', '2024-12-31': '2024-01-01' }],
  ];
  test.each(grains)('a period of grain %s starts on its first day', async (grain, texts) => {
    const { sender } = await weir().source({ fields: shape(grain) });
    const sent = Object.keys(texts).map((period) => sender.push({ period, amount: '1' }));
    for (const answer of await Promise.all(sent)) {
      expect((await sender.settled(answer)).counts.samples).toBe(1);
    }
    for (const start of Object.values(texts)) {
      const { samples } = await sender.samples(`from=${start}&to=${next(start)}`);
      expect(samples.map((sample) => sample.period_start)).toEqual([start]);
    }
  });

  const refused: readonly (readonly [Grain, Record<string, string>])[] = [
    [
      'day',
      {
        '1899-12-31': 'period_out_of_range',
        '2300-01-01': 'period_out_of_range',
        '2026-02-29': 'period_invalid',
        '2100-02-29': 'period_invalid',
        '2026-04-31': 'period_invalid',
        '2026-02': 'period_grain_mismatch',
        '2026-W01': 'period_grain_mismatch',
        '2026-3-1': 'period_invalid',
        '01.03.2026': 'period_invalid',
        '2026-03-01 00:00:00': 'period_invalid',
        '2026-03-01T24:00:00Z': 'period_invalid',
        '1900-01-01T00:00:00+14:00': 'period_out_of_range',
        '': 'period_blank',
      },
    ],
    [
      'week',
      {
        '2026-02': 'period_grain_mismatch',
        '2026': 'period_grain_mismatch',
        '2026-W54': 'period_invalid',
        '2025-W53': 'period_invalid',
        '2026-W00': 'period_invalid',
        '1900-W01x': 'period_invalid',
      },
    ],
    ['month', { '2026-Q1': 'period_grain_mismatch', '2026-13': 'period_invalid' }],
    ['quarter', { '2026': 'period_grain_mismatch', '2026-Q5': 'period_invalid' }],
    ['year', { '1899': 'period_out_of_range', '26': 'period_invalid' }],
  ];
  test.each(refused)('what is no period of grain %s rejects its record', async (grain, texts) => {
    const { sender } = await weir().source({ delivery: 'document', fields: shape(grain) });
    const rows = Object.keys(texts).map((text) => `"${text}",1\n`);
    const answer = await sender.document(`period,amount\n${rows.join('')}`);
    const view = await sender.settled(answer);
    expect(view.status).toBe('rejected');
    expect(view.rejections.map(({ field, code }) => [field, code])).toEqual(
      Object.values(texts).map((code) => ['period', code]),
    );
  });

  test('ten years of months come back from one document', async () => {
    const source = await weir().source({ delivery: 'document', fields: shape('month') });
    const months = Array.from({ length: 120 }, (_, i) => {
      const month = String((i % 12) + 1).padStart(2, '0');
      return { text: `${2016 + Math.floor(i / 12)}-${month}`, value: `${i}.${i % 10}0` };
    });
    const body = months.map(({ text, value }) => `${text},${value}\n`).join('');
    const { sender } = source;
    await sender.settled(await sender.document(`period,amount\n${body}`));
    const found: [string, string][] = [];
    for (let year = 2016; year < 2026; year += 2) {
      const { samples } = await sender.samples(`from=${year}-01-01&to=${year + 2}-01-01`);
      found.push(...samples.map((s): [string, string] => [s.period_start, s.value]).reverse());
    }
    expect(found).toEqual(months.map(({ text, value }) => [`${text}-01`, value]));
  });

  test('a day outside the window is not read, at either end', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const days = ['2026-02-28', '2026-03-01', '2026-03-31', '2026-04-01'];
    const body = `day,amount\n${days.map((day) => `${day},1\n`).join('')}`;
    await sender.settled(await sender.document(body));
    const { samples } = await sender.samples('from=2026-03-01&to=2026-04-01');
    expect(samples.map((s) => s.period_start)).toEqual(['2026-03-31', '2026-03-01']);
  });
}

function shape(grain: Grain) {
  return [
    { name: 'period', role: 'period', grain },
    { name: 'amount', role: 'value', metric: 'amount' },
  ] as const;
}

function next(day: string): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString().slice(0, 10);
}
