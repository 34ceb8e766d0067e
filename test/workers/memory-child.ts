import { readFileSync } from 'node:fs';
import type { DocumentFormat } from '../../src/domain/nouns.ts';
import { parseDelivery } from '../../workers/delivery.ts';
import { someInput } from './some-delivery.ts';

/**
 * Parses one gzip document by itself in this process, as a thread does, and prints what it took:
 * `node memory-child.ts FILE FORMAT`. Rows that are handed on go nowhere.
 */
const [file = '', format = ''] = process.argv.slice(2);
const received = readFileSync(file);
const input = someInput({ format: format as DocumentFormat, encoding: 'gzip' });
// Code is loaded and small things are made before memory counts.
await parseDelivery(someInput(), Buffer.from('day,shop,revenue\n2024-05-01,s,1\n'));
global.gc?.();
const idle = process.memoryUsage.rss();

let bytes = 0;
let rows = 0;
const parsed = await parseDelivery(input, received, async (pieces) => {
  for (const piece of [...pieces.sampleRows, ...pieces.rejectionRows]) bytes += piece.length;
  rows += pieces.sampleRowCount + pieces.rejectionRowCount;
});
rows += parsed.sampleRowCount + parsed.rejectionRowCount;
const peak = process.resourceUsage().maxRSS * 1024;
const { counts, refusal } = parsed;
console.log(JSON.stringify({ idle, peak, counts, refusal, rows, bytes }));
