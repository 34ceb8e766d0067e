import type { RecordSample } from '../src/domain/records.ts';
import { type SampleRowBase, sampleRowParts } from '../src/domain/sample-row.ts';
import type { RowBytes } from './row-bytes.ts';

/**
 * Writes samples as rows, as `sampleRowEncoder` gives them. What rows have in common is encoded
 * once; of the rest, day, value and record are ASCII.
 */
export function sampleWriter(base: SampleRowBase, rows: RowBytes) {
  const parts = sampleRowParts(base);
  const head = Buffer.from(parts.head);
  const tail = Buffer.from(parts.tail);
  /** By the metric's place in the plan, then by the labels' id. */
  const middles: Buffer[][] = [];

  return ({ day, metric, labels, value }: RecordSample, record: number): void => {
    middles[metric.index] ??= [];
    const ofMetric = middles[metric.index]!;
    ofMetric[labels.id] ??= Buffer.from(parts.middle(metric.key, labels.json));
    rows.bytes(head);
    rows.integer(-day);
    rows.bytes(ofMetric[labels.id]!);
    rows.ascii(value);
    rows.bytes(tail);
    rows.integer(record);
    rows.endRow();
  };
}
