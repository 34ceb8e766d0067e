import { dayToText } from '../../src/domain/periods.ts';

/**
 * A CSV document of which many different ones are made: one cell holds a number of its own. Two
 * metrics with two labels for each of 731 days and up to 192 places, so that 140,000 records are
 * as many identities twice.
 */
export interface DocumentTemplate {
  readonly bytes: Buffer;
  readonly records: number;
  /** Where the number of the document stands; it has `numberDigits` digits. */
  readonly numberAt: number;
}

export const numberDigits = 15;
const days = 731;
const header = 'day,device,place,visits,revenue\n';

/** @param bytesMax how large it may be; it ends with the last whole record */
export function documentTemplate(bytesMax: number): DocumentTemplate {
  const newest = Math.floor(Date.now() / 86_400_000);
  const lines = [header];
  let bytes = header.length;
  let numberAt = 0;
  for (let i = 0; ; i++) {
    const line = recordLine(newest - (i % days), Math.floor(i / days), i);
    if (bytes + line.length > bytesMax) break;
    if (i === 0) numberAt = bytes + line.indexOf('0'.repeat(numberDigits));
    lines.push(line);
    bytes += line.length;
  }
  return { bytes: Buffer.from(lines.join('')), records: lines.length - 1, numberAt };
}

function recordLine(day: number, place: number, i: number): string {
  const visits = i === 0 ? `1${'0'.repeat(numberDigits)}` : `${(i * 7_919) % 1_000_000}.5`;
  const revenue = `${(i * 104_729) % 10_000_000}.25`;
  const device = `device-type-${String(place % 16).padStart(2, '0')}`;
  const where = `place-no-${String(Math.floor(place / 16)).padStart(4, '0')}`;
  return `${dayToText(day)},${device},${where},${visits},${revenue}\n`;
}

/** Document number `n` in two parts: the first has the number, the second all of them share. */
export function documentParts(template: DocumentTemplate, n: number): [Buffer, Buffer] {
  const { bytes, numberAt } = template;
  const end = numberAt + numberDigits;
  const first = Buffer.from(bytes.subarray(0, end));
  first.write(String(n).padStart(numberDigits, '0'), numberAt, 'latin1');
  return [first, bytes.subarray(end)];
}

/** The whole of it. */
export function documentBytes(template: DocumentTemplate, n: number): Buffer {
  return Buffer.concat(documentParts(template, n));
}
