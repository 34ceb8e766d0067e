import type { Rejection } from './nouns.ts';
import { escapeTsv } from './sample-row.ts';

/** One rejection of a record as a line of tab-separated text, in the order of these columns. */
export const rejectionColumns = [
  'artifact_id',
  'generation',
  'record',
  'ordinal',
  'line',
  'field',
  'code',
  'message',
] as const;

/**
 * @param ordinal position among the rejections of the same record, from 0
 * @returns one row, newline included; null line and field are `\N`
 */
export function encodeRejectionRow(
  base: { artifactId: string; generation: number },
  rejection: Rejection & { record: number },
  ordinal: number,
): string {
  const line = rejection.line ?? '\\N';
  const field = rejection.field === null ? '\\N' : escapeTsv(rejection.field);
  const place = `${base.artifactId}\t${base.generation}\t${rejection.record}\t${ordinal}`;
  return `${place}\t${line}\t${field}\t${rejection.code}\t${escapeTsv(rejection.message)}\n`;
}
