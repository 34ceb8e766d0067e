import { dayText, documentOf, type Sent } from '../sender.ts';

const mib = 1024 * 1024;

/** A document of `bytes` in one sample: columns that the shape does not declare. */
export function largeDocument(key: string, bytes = 3 * mib): Sent {
  const small = documentOf(key, [{ period: dayText(0), page: `/${key}`, value: '1' }]);
  const [row] = small.rows;
  // A cell has a bound of its own.
  const count = Math.ceil(bytes / (mib / 2));
  const names = Array.from({ length: count }, (_, i) => `note${i}`);
  const notes = names.map(() => 'x'.repeat(Math.floor(bytes / count))).join(',');
  const body = `day,page,visits,${names}\n${row!.period},/${key},1,${notes}\n`;
  return { ...small, body: Buffer.from(body) };
}
