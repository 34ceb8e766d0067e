import { expect, test } from 'vitest';
import { dayOf } from '../../src/domain/days.ts';
import { sumDecimals } from '../../src/domain/decimals.ts';
import { limits } from '../../src/domain/limits.ts';
import { dayToText } from '../../src/domain/periods.ts';
import { freshKey } from '../support/sender.ts';
import type { TheWeir } from './suite.ts';

const first = dayOf(2024, 1, 1);
const days = 731;
const fields = [
  { name: 'day', role: 'period' },
  { name: 'place', role: 'label' },
  { name: 'device', role: 'label' },
  { name: 'visits', role: 'value', metric: 'visits' },
  { name: 'note', required: false },
] as const;

/** What goes in comes out, exactly (specification, "What the service does", 1; "Sample"). */
export function largeCases(weir: TheWeir): void {
  test('every value of 8 MiB of CSV is read as it stands in the file, and their sum is exact', {
    timeout: 60_000,
  }, async () => {
    const { sender } = await weir().source({ delivery: 'document', fields });
    const { bytes, values } = bigDocument();
    expect(bytes.length).toBe(limits.deliveryBytesMax);
    const receipt = await sender.document(bytes, freshKey());
    const view = await sender.settled(receipt, 50_000);
    expect(view.counts).toMatchObject({
      ...{ records: values.size, parsed: values.size, samples: values.size, rejected: 0 },
    });

    const sums: string[] = [];
    let differences = 0;
    let count = 0;
    for (let day = first; day < first + days; day += 20) {
      const to = Math.min(day + 20, first + days);
      const query = `from=${dayToText(day)}&to=${dayToText(to)}`;
      const { samples, truncated } = await sender.samples(query);
      expect(truncated).toBe(false);
      for (const { period_start, labels, value } of samples) {
        if (values.get(`${period_start} ${labels.place}`) !== value) differences += 1;
      }
      count += samples.length;
      sums.push(sumDecimals(samples.map(({ value }) => value)));
    }
    expect([count, differences]).toEqual([values.size, 0]);
    expect(sumDecimals(sums)).toBe(sumDecimals(values.values()));
  });
}

/** 200 places a day over 731 days, filled up to 8 MiB in the cells of a field without a role. */
function bigDocument(): { bytes: Buffer; values: Map<string, string> } {
  const values = new Map<string, string>();
  const lines = ['day,place,device,visits,note\n'];
  let length = lines[0]!.length;
  // A small generator of its own: the same file in every run.
  let state = 12_345;
  for (let i = 0; i < days * 200; i++) {
    state = (state * 48_271) % 2_147_483_647;
    const day = dayToText(first + (i % days));
    const place = `place ${Math.floor(i / days)}`;
    const fraction = String(state % 10_007).padStart(5, '0');
    const value = `${state % 3 === 0 ? '-' : ''}${state}.${fraction}0`;
    values.set(`${day} ${place}`, value);
    const line = `${day},${place},phone,${value},\n`;
    lines.push(line);
    length += line.length;
  }
  // Spread over the rows: a cell may not be longer than a mebibyte.
  const missing = limits.deliveryBytesMax - length;
  const rows = lines.length - 1;
  for (let row = 1; row <= rows; row++) {
    const share = Math.floor(missing / rows) + (row <= missing % rows ? 1 : 0);
    lines[row] = `${lines[row]!.slice(0, -1)}${'x'.repeat(share)}\n`;
  }
  return { bytes: Buffer.from(lines.join('')), values };
}
