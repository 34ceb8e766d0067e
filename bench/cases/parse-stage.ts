import { inferSchema, initParser } from 'udsv';
import { limits } from '../../src/domain/limits.ts';
import type { ParseInput } from '../../src/parse/messages.ts';
import { parseDelivery } from '../../workers/delivery.ts';
import type { BenchCase } from '../case.ts';
import { documentBytes } from '../load/document.ts';
import { templateOf } from '../load/documents.ts';
import { fields, metrics } from '../world/weir.ts';

/** What a parse thread does with a CSV, against the fastest splitter by itself. */
export const parseStage: BenchCase = {
  name: 'parse-stage',
  title: 'decode, validate and encode an 8 MiB CSV, against bare uDSV on the same bytes',
  unit: 'ms',
  group: 'alone',
  variants: (size) => [
    {
      name: 'p50',
      goal: { value: 2.5, bound: 'at most', of: 'ratio' },
      judged: true,
      async prepare() {
        const template = templateOf(size === 'tiny' ? 64 * 1_024 : limits.deliveryBytesMax);
        const body = documentBytes(template, 1);
        const runs = size === 'full' ? 3 : 1;
        return {
          async check() {
            const { counts, status } = await parseDelivery(input, body);
            const { records } = template;
            if (status !== 'parsed' || counts.samples !== 2 * records) {
              throw new Error(`${records} records gave ${JSON.stringify(counts)}`);
            }
            const rows = splitBare(body);
            if (rows.length !== records) throw new Error(`uDSV split ${rows.length} rows`);
          },
          ours: () => timed(runs, () => parseDelivery(input, body)),
          theirs: () => timed(runs, () => splitBare(body)),
          async close() {},
        };
      },
    },
  ],
};

const input: ParseInput = {
  ...{ artifactId: '01900000-0000-7000-8000-000000000003', sandbox: false },
  ...{ sourceId: '01900000-0000-7000-8000-000000000004', sequence: 1, generation: 0 },
  ...{ place: { object: 'none', offset: 0, length: 0 }, sha256: '0'.repeat(64) },
  ...{ delivery: 'document', format: 'csv', mediaType: 'application/octet-stream' },
  ...{ encoding: 'identity', fields, metrics, personalNow: [], timezone: 'UTC' },
};

/** Text to arrays of texts: nothing is judged, nothing is encoded. */
function splitBare(body: Buffer): string[][] {
  const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
  return initParser(inferSchema(text)).stringArrs(text) as string[][];
}

/** @returns milliseconds of one run, on average */
async function timed(runs: number, work: () => unknown): Promise<number> {
  const started = performance.now();
  for (let i = 0; i < runs; i++) await work();
  return (performance.now() - started) / runs;
}
