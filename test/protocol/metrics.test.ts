import { rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
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

test('what a store does not take is counted by the store', async () => {
  const { sender } = await weir.source({ delivery: 'document' });
  const failed = 'weir_store_errors_total{store="artifacts"}';
  expect((await metricsOf(weir.running)).get(failed)).toBe(0);
  const dir = join(weir.running.place.dataDir, 'artifacts');
  await rename(dir, `${dir}-away`);
  await writeFile(dir, 'a file where the store was');
  try {
    expect(await sender.document('day,amount\n')).toMatchObject({ status: 503 });
  } finally {
    await rm(dir);
    await rename(`${dir}-away`, dir);
  }
  const now = await metricsOf(weir.running);
  expect(now.get(failed)).toBeGreaterThan(0);
  expect(now.get('weir_upload_failures_total')).toBe(1);
  expect(now.get('weir_store_errors_total{store="samples"}')).toBe(0);
  expect(await sender.document('day,amount\n')).toMatchObject({ status: 202 });
});

test('nothing that a caller sent is in the metrics', async () => {
  const canary = 'c4nary';
  const { sender } = await weir.source({ delivery: 'document' });
  await sender.settled(await sender.document(`day,${canary}\n${canary},${canary}\n`, canary));
  await sender.get(`/v1/${canary}?${canary}=${canary}`, { [canary]: canary });
  await sender.get(`/v1/deliveries/${canary}`);
  for (const method of ['POST', 'PUT', canary.toUpperCase()]) {
    await ask(`${weir.url}/v1/webhooks/${canary}`, { method, body: canary });
    await ask(`${weir.url}/v1/ingest`, { method, body: canary, headers: { traceparent: canary } });
  }
  const text = await metricsText(weir.running);
  expect(text).toContain('weir_requests_total{route="none",status="404"}');
  expect(text).toContain('weir_requests_total{route="/v1/deliveries/:artifact_id",status="404"}');
  expect(text.toLowerCase()).not.toContain(canary);
});

/** Every label there is, with what it may say: as many series as this, whoever calls. */
const labelValues: Readonly<Record<string, RegExp>> = {
  route: /^(none|\/\*|\/[\w/:.-]*)$/,
  status: /^([1-5]\d\d|parsed|rejected)$/,
  kind: /^(push|document|webhook|replayed_key|replayed_body)$/,
  outcome: /^(parsed|rejected|sample|blank|superseded)$/,
  store: /^(catalog|artifacts|samples)$/,
  le: /^(\+Inf|[\d.e+-]+)$/,
};

test('labels say what the program says, and nothing else', async () => {
  const found = new Set<string>();
  for (const line of (await metricsText(weir.running)).split('\n')) {
    if (!line.startsWith('weir_')) continue;
    for (const [, label, value] of line.matchAll(/(\w+)="([^"]*)"/g)) {
      expect([line, Object.keys(labelValues)]).toEqual([line, expect.arrayContaining([label])]);
      expect([line, value]).toEqual([line, expect.stringMatching(labelValues[label!]!)]);
      if (label === 'route') found.add(value!);
    }
  }
  // Patterns of addresses, not addresses: an id in one would make a series for each.
  expect([...found].filter((route) => /[0-9a-f]{8}/.test(route))).toEqual([]);
});
