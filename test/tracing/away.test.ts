import { afterAll, beforeAll, expect, test } from 'vitest';
import { accepted, type Sender } from '../support/sender.ts';
import { TestWeir } from '../support/test-weir.ts';
import { Receiver } from './receiver.ts';

const queueMax = 100;
const batchMax = 50;
const receiver = new Receiver();
let weir: TestWeir;
let sender: Sender;

beforeAll(async () => {
  await receiver.listen();
  receiver.hangs = true;
  weir = await TestWeir.start({
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${receiver.url}/v1/traces`,
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_BSP_SCHEDULE_DELAY: '50',
    OTEL_BSP_MAX_QUEUE_SIZE: String(queueMax),
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: String(batchMax),
  });
  sender = (await weir.source()).sender;
});
afterAll(async () => {
  await weir?.stop();
  receiver.close();
});

const push = async () => accepted(await sender.push({ day: '2026-01-01', amount: '1' }));
const said = (text: string) => weir.running.log.split('\n').filter((line) => line.includes(text));

test('while a backend hangs receipts are given, and only so many spans are kept', async () => {
  const began = performance.now();
  for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 16 }, push));
  const took = performance.now() - began;
  await expect.poll(() => said('spans cannot be exported').length, { timeout: 20_000 }).toBe(1);
  expect(receiver.requests).toBeGreaterThan(0);
  // 320 receipts that waited for one export each would take 160 s, one after another.
  expect(took).toBeLessThan(20_000);

  receiver.hangs = false;
  // What meets a queue that is still full is dropped: so again until one is taken.
  const isTaken = async () => {
    await push();
    return said('spans are exported again').length;
  };
  await expect.poll(isTaken, { timeout: 20_000 }).toBe(1);
  // Three of each push alone are 960: what came had waited, was under way, or is of the last ones.
  expect(receiver.spans.length).toBeLessThan(2 * queueMax + 100);
  expect(said('spans because maxQueueSize reached').length).toBeGreaterThan(0);
  expect(said('spans cannot be exported')).toHaveLength(1);
});

test('a stop does not wait for a backend that hangs', async () => {
  receiver.hangs = true;
  await push();
  const began = performance.now();
  await weir.running.end();
  expect(performance.now() - began).toBeLessThan(10_000);
});
