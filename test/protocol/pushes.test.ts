import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { dayToText } from '../../src/domain/periods.ts';
import type { Answer } from '../support/ask.ts';
import { metricsOf } from '../support/metrics-of.ts';
import type { Sender } from '../support/sender.ts';
import { TestWeir } from '../support/test-weir.ts';

let weir: TestWeir;
beforeAll(async () => {
  weir = await TestWeir.start();
});
afterAll(() => weir?.stop());

/** One record, with a day of its own. */
function push(sender: Sender, day: number): Promise<Answer> {
  return sender.push({ day: dayToText(20_000 + day), amount: String(day) });
}

test('thousands of pushes are parsed as fast as they come, in few inserts', async () => {
  const { sender } = await weir.source();
  const inserts = async () => (await metricsOf(weir.running)).get('weir_insert_seconds_count') ?? 0;
  const [insertsBefore, began] = [await inserts(), performance.now()];
  const count = 4_000;
  const sent: Answer[] = [];
  let next = 0;
  const client = async () => {
    while (next < count) sent.push(await push(sender, next++));
  };
  await Promise.all(Array.from({ length: 32 }, client));
  const accepted = performance.now() - began;
  await Promise.all(sent.slice(-32).map((one) => sender.settled(one)));
  const parsed = performance.now() - began;
  console.log(`${count} accepted in ${accepted.toFixed(0)} ms, parsed in ${parsed.toFixed(0)} ms`);
  // What came last is parsed within the spacing of two inserts and the time they take.
  expect(parsed - accepted).toBeLessThan(5_000);
  expect((await inserts()) - insertsBefore).toBeLessThanOrEqual(
    2 + parsed / limits.insertSpacingMs,
  );
  for (const one of sent) expect((await sender.settled(one)).counts.samples).toBe(1);
}, 180_000);

test('a push that comes alone is readable within a second', async () => {
  const { sender } = await weir.source();
  const took: number[] = [];
  for (let day = 0; day < 20; day++) {
    await sleep(limits.insertSpacingMs + 100);
    const taken = await push(sender, day);
    const began = performance.now();
    await sender.settled(taken);
    const window = `from=${dayToText(20_000 + day)}&to=${dayToText(20_001 + day)}`;
    const { samples } = await sender.samples(window);
    expect(samples.map(({ value }) => value)).toEqual([String(day)]);
    took.push(performance.now() - began);
  }
  took.sort((a, b) => a - b);
  console.log(`alone: p50 ${took[10]!.toFixed(0)} ms, all but one ${took[18]!.toFixed(0)} ms`);
  expect(took[18]).toBeLessThan(1_000);
}, 120_000);
