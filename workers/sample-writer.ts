import type { RecordSample } from '../src/domain/records.ts';
import { type SampleRowBase, sampleRowParts } from '../src/domain/sample-row.ts';
import type { RowBytes } from './row-bytes.ts';

/** Labels whose bytes are kept for the next sample that has them. */
const middlesMax = 16_384;

/**
 * Writes samples as rows, as `sampleRowEncoder` gives them. What rows have in common is encoded
 * once; of the rest, day, value and record are ASCII.
 */
export function sampleWriter(base: SampleRowBase, rows: RowBytes) {
  const parts = sampleRowParts(base);
  const head = Buffer.from(parts.head);
  const tail = Buffer.from(parts.tail);
  /** By the metric's place in the plan, then by the labels' id, as far as these are kept. */
  const middles: Buffer[][] = [];

  function writeMiddle({ metric, labels }: RecordSample): void {
    middles[metric.index] ??= [];
    const ofMetric = middles[metric.index]!;
    const known = ofMetric[labels.id];
    if (known === undefined && labels.id >= middlesMax) {
      rows.text(parts.middle(metric.key, labels.json));
      return;
    }
    const middle = known ?? Buffer.from(parts.middle(metric.key, labels.json));
    ofMetric[labels.id] = middle;
    rows.bytes(middle);
  }

  return (sample: RecordSample, record: number): void => {
    rows.bytes(head);
    rows.integer(-sample.day);
    writeMiddle(sample);
    rows.ascii(sample.value);
    rows.bytes(tail);
    rows.integer(record);
    rows.endRow();
  };
}
