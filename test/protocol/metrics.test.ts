import { afterAll, beforeAll, expect, test } from 'vitest';
import { metricsOf, metricsText } from '../support/metrics-of.ts';
import { freshKey } from '../support/sender.ts';
import { TestWeir } from '../support/test-weir.ts';

let weir: TestWeir;
beforeAll(async () => {
  weir = await TestWeir.start();
});
afterAll(() => weir?.stop());

test('what came in is counted, and its accounting is right', async () => {
  const before = await metricsOf(weir.running);
  const grown = async (name: string) =>
    ((await metricsOf(weir.running)).get(name) ?? 0) - (before.get(name) ?? 0);
  const source = await weir.source({ delivery: 'document' });
  const { sender } = source;
  const body = 'day,amount\n2026-01-01,1\n2026-01-01,2\n2026-01-02,\nx,3\n';
  const key = freshKey();
  await sender.settled(await sender.document(body, key));
  await sender.document(body, key);
  await sender.document(body);
  await sender.document('day,amount\n', key);
  for (const [name, by] of [
    ['weir_receipts_total{kind="document"}', 1],
    ['weir_receipts_total{kind="replayed_key"}', 2],
    ['weir_receipts_total{kind="replayed_body"}', 1],
    ['weir_conflicts_total', 1],
    ['weir_received_bytes_total', body.length],
    ['weir_records_total{outcome="parsed"}', 3],
    ['weir_records_total{outcome="rejected"}', 1],
    ['weir_values_total{outcome="sample"}', 1],
    ['weir_values_total{outcome="superseded"}', 1],
    ['weir_values_total{outcome="blank"}', 1],
    ['weir_requests_total{route="/v1/ingest",status="202"}', 4],
    ['weir_insert_bytes_count', 1],
  ] as const) {
    expect([name, await grown(name)]).toEqual([name, by]);
  }
  const now = await metricsOf(weir.running);
  expect(now.get('weir_accounting_difference')).toBe(0);
  expect(now.get('weir_backlog_deliveries')).toBe(0);
  expect(now.get('weir_held_bytes')).toBe(0);
  expect(now.get('weir_accepting')).toBe(1);
});

test('nothing that a caller sent is in the metrics', async () => {
  const canary = 'c4nary';
  const { sender } = await weir.source({ delivery: 'document' });
  await sender.settled(await sender.document(`day,${canary}\n${canary},${canary}\n`, canary));
  await sender.get(`/v1/${canary}?${canary}=${canary}`, { [canary]: canary });
  await sender.get(`/v1/deliveries/${canary}`);
  const text = await metricsText(weir.running);
  expect(text).toContain('weir_requests_total{route="none",status="404"}');
  expect(text).toContain('weir_requests_total{route="/v1/deliveries/:artifact_id",status="404"}');
  expect(text).not.toContain(canary);
});
