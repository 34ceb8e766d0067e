import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { dayToText } from '../../src/domain/periods.ts';
import { metricsOf } from '../support/metrics-of.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';

/**
 * While documents are taken in and parsed, the service goes on answering at once: no work on its
 * event loop takes long.
 */

const documents = 4;
const p99MsMax = 25;
/** The delay is that of a timer of 10 ms, which is counted in what Node tells. */
const timerMs = 10;
/** Others use the cores as well: it must hold in one of so many rounds. */
const roundsMax = 5;

let weir: TestWeir;
let source: TestSource;
beforeAll(async () => {
  weir = await TestWeir.start();
  source = await weir.source({
    delivery: 'document',
    fields: [
      { name: 'day', role: 'period' },
      { name: 'device', role: 'label' },
      { name: 'place', role: 'label' },
      { name: 'visits', role: 'value', metric: 'visits' },
    ],
  });
});
afterAll(() => weir?.stop());

/** As many rows as fit; no two documents are alike. */
function largeDocument(number: number): Buffer {
  const lines = ['day,device,place,visits'];
  for (let bytes = lines[0]!.length + 1, i = 0; ; i++) {
    const day = dayToText(20_000 + (i % 700));
    const line = `${day},device ${i % 3} of ${number},place ${Math.floor(i / 700)},${i}.${number}`;
    bytes += line.length + 1;
    if (bytes > limits.deliveryBytesMax) return Buffer.from(`${lines.join('\n')}\n`);
    lines.push(line);
  }
}

/** Takes the delays since they were asked for last, in milliseconds. */
async function delays(): Promise<{ p50: number; p99: number; max: number }> {
  const values = await metricsOf(weir.running);
  const ms = (name: string) => values.get(`nodejs_eventloop_lag_${name}_seconds`)! * 1_000;
  const [p50, p99, max] = [ms('p50') - timerMs, ms('p99') - timerMs, ms('max') - timerMs];
  return { p50, p99, max };
}

test(`p99 of its delay stays under ${p99MsMax} ms`, { timeout: 240_000 }, async () => {
  const { sender } = source;
  const found: number[] = [];
  while (found.length < roundsMax && !found.some((p99) => p99 < p99MsMax)) {
    const bodies = Array.from({ length: documents }, (_, i) =>
      largeDocument(found.length * documents + i),
    );
    await delays();
    const receipts = await Promise.all(bodies.map((body) => sender.document(body)));
    for (const receipt of receipts) {
      expect((await sender.settled(receipt, 60_000)).status).toBe('parsed');
    }
    const { p50, p99, max } = await delays();
    const shown = [p50, p99, max].map((ms) => ms.toFixed(1));
    console.log(`event loop: delay p50 ${shown[0]} ms, p99 ${shown[1]}, max ${shown[2]}`);
    found.push(p99);
  }
  expect(Math.min(...found)).toBeLessThan(p99MsMax);
});
