import { expect, test } from 'vitest';
import { watchedGauges } from '../../src/metrics/metrics.ts';
import { prometheusMetrics } from '../../src/metrics/prometheus.ts';

const counts = { records: 5, parsed: 3, rejected: 2, samples: 4, blank: 1, supersededWithin: 1 };
const good = { status: 'parsed', counts, valuesSeen: 6 } as const;
const quiet = { warn() {} };

async function lines(metrics = prometheusMetrics(quiet)): Promise<string[]> {
  const { body } = await metrics.scrape();
  return body.split('\n').filter((line) => line.startsWith('weir_'));
}

test('names, help and kinds are stable', async () => {
  const metrics = prometheusMetrics(quiet);
  for (const name of Object.keys(watchedGauges)) {
    metrics.watch(name as keyof typeof watchedGauges, () => 1);
  }
  const { contentType, body } = await metrics.scrape();
  expect(contentType).toMatch(/^text\/plain; version=0\.0\.4/);
  const described = body.split('\n').filter((line) => /^# (HELP|TYPE) weir_/.test(line));
  expect(described.join('\n')).toMatchSnapshot();
  expect(body).toMatch(/^nodejs_eventloop_lag_p99_seconds /m);
});

test('what the service did is counted under labels of our own', async () => {
  const metrics = prometheusMetrics(quiet);
  metrics.answered('/v1/ingest', 202, 0.003);
  metrics.answered('none', 404, 0.001);
  metrics.stored('push', 100);
  metrics.stored('webhook', 50);
  metrics.replayed('key');
  metrics.conflict();
  metrics.uploadFailed();
  metrics.storeFailed('catalog');
  metrics.inserted(1_000, 0.2);
  metrics.orphans(3);
  metrics.orphansRemoved(2);
  metrics.scrubbed(10);
  metrics.parsed([good, good], 0.01);
  const told = await lines(metrics);
  for (const line of [
    'weir_requests_total{route="/v1/ingest",status="202"} 1',
    'weir_requests_total{route="none",status="404"} 1',
    'weir_request_seconds_bucket{le="0.005",route="/v1/ingest"} 1',
    'weir_receipts_total{kind="push"} 1',
    'weir_receipts_total{kind="webhook"} 1',
    'weir_receipts_total{kind="replayed_key"} 1',
    'weir_received_bytes_total 150',
    'weir_conflicts_total 1',
    'weir_upload_failures_total 1',
    'weir_store_errors_total{store="artifacts"} 1',
    'weir_store_errors_total{store="catalog"} 1',
    'weir_store_errors_total{store="samples"} 0',
    'weir_insert_bytes_sum 1000',
    'weir_orphan_objects 3',
    'weir_orphan_objects_removed_total 2',
    'weir_scrub_artifacts_total 1',
    'weir_scrub_bytes_total 10',
    'weir_parsed_deliveries_total{status="parsed"} 2',
    'weir_records_total{outcome="parsed"} 6',
    'weir_records_total{outcome="rejected"} 4',
    'weir_values_total{outcome="sample"} 8',
    'weir_values_total{outcome="blank"} 2',
    'weir_values_total{outcome="superseded"} 2',
    'weir_accounting_difference 0',
  ]) {
    expect(told).toContain(line);
  }
});

test.each([
  ['a record that is lost', { ...good, counts: { ...counts, parsed: 2 } }, 1],
  ['a value that is lost', { ...good, valuesSeen: 7 }, 1],
  ['two samples that are made up', { ...good, counts: { ...counts, samples: 6 } }, 2],
])('%s shows in the accounting difference, and stays', async (_, wrong, by) => {
  const metrics = prometheusMetrics(quiet);
  metrics.parsed([good, wrong, good], 0.01);
  metrics.parsed([good], 0.01);
  expect(await lines(metrics)).toContain(`weir_accounting_difference ${by}`);
});

test('a value that cannot be had is missing, and no other with it', async () => {
  const warned: string[] = [];
  const metrics = prometheusMetrics({ warn: (_, message) => void warned.push(message) });
  let away = true;
  metrics.watch('weir_backlog_deliveries', async () => {
    if (away) throw new Error('the catalog is away');
    return 7;
  });
  metrics.watch('weir_held_bytes', () => 5);
  const told = await lines(metrics);
  expect(told).toContain('weir_held_bytes 5');
  expect(told.filter((line) => line.startsWith('weir_backlog_deliveries'))).toEqual([]);
  expect(warned).toEqual(['weir_backlog_deliveries cannot be told']);
  expect(await metrics.value('weir_backlog_deliveries')).toBe(null);
  expect(await metrics.value('weir_held_bytes')).toBe(5);
  expect(await metrics.value('weir_accepting')).toBe(null);
  away = false;
  expect(await lines(metrics)).toContain('weir_backlog_deliveries 7');
});
