import { readFileSync } from 'node:fs';

/** The data files of `vega-datasets`, read without anything of weir's own parsers. */

/** @param name such as `weather.csv` */
export function dataFile(name: string): Buffer {
  return readFileSync(new URL(`../data/${name}`, import.meta.resolve('vega-datasets')));
}

/** A CSV file's cells, header first. The files that are used hold no quotes. */
export function cells(name: string): string[][] {
  return dataFile(name)
    .toString()
    .trim()
    .split('\n')
    .map((line) => line.trim().split(','));
}

/** One month of one industry; numbers as they stand in the file. */
export interface Unemployment {
  readonly industry: string;
  /** `YYYY-MM` */
  readonly month: string;
  readonly count: string;
  readonly rate: string;
}

export const unemploymentFile = 'unemployment-across-industries.json';

/** Number by number out of the text itself: `2` must not come back as `2.0`. */
export function unemploymentRecords(): Unemployment[] {
  const record = /"series":"([^"]*)","year":(\d+),"month":(\d+),"count":([\d.]+),"rate":([\d.]+)/g;
  const found = dataFile(unemploymentFile).toString().matchAll(record);
  return [...found].map(([, industry, year, month, count, rate]) => ({
    industry: industry!,
    month: `${year}-${month!.padStart(2, '0')}`,
    count: count!,
    rate: rate!,
  }));
}
