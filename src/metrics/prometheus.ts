import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { accountingDifference } from '../domain/accounting.ts';
import { type Metrics, storeNames, type WatchedGauge, watchedGauges } from './metrics.ts';
import type { MetricsSnapshot } from './together.ts';

const requestSeconds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10];
const workSeconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 120];
const insertBytes = [1e3, 1e4, 1e5, 1e6, 4e6, 16e6, 64e6];

/** Metrics in the Prometheus text format, in a registry of their own. */
export function prometheusMetrics(log: { warn(fields: object, message: string): void }): Metrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const made = instruments(registry);
  // Not told before it is counted: a restart would look as if they had gone and come.
  made.orphans.remove();
  // There from the start: what begins at its first error has not grown by it.
  for (const store of storeNames) made.storeErrors.inc({ store }, 0);
  const watched = new Map<WatchedGauge, () => Promise<number | null>>();
  return {
    answered(route, status, seconds) {
      made.requests.inc({ route, status });
      made.requestSeconds.observe({ route }, seconds);
    },
    stored(way, bytes) {
      made.receipts.inc({ kind: way });
      made.receivedBytes.inc(bytes);
    },
    replayed: (by) => made.receipts.inc({ kind: `replayed_${by}` }),
    conflict: () => made.conflicts.inc(),
    uploadFailed() {
      made.uploadFailures.inc();
      made.storeErrors.inc({ store: 'artifacts' });
    },
    storeFailed: (store) => made.storeErrors.inc({ store }),
    parsed(deliveries, seconds) {
      made.parseSeconds.observe(seconds);
      for (const { status, counts, valuesSeen } of deliveries) {
        made.deliveries.inc({ status });
        made.records.inc({ outcome: 'parsed' }, counts.parsed);
        made.records.inc({ outcome: 'rejected' }, counts.rejected);
        made.values.inc({ outcome: 'sample' }, counts.samples);
        made.values.inc({ outcome: 'blank' }, counts.blank);
        made.values.inc({ outcome: 'superseded' }, counts.supersededWithin);
        made.difference.inc(accountingDifference(counts, valuesSeen));
      }
    },
    inserted(bytes, seconds) {
      made.insertBytes.observe(bytes);
      made.insertSeconds.observe(seconds);
    },
    orphans: (count) => made.orphans.set(count),
    orphansRemoved: (count) => made.orphansRemoved.inc(count),
    scrubbed(bytes) {
      made.scrubbed.inc();
      made.scrubbedBytes.inc(bytes);
    },
    watch(name, value) {
      const ask = async () => {
        try {
          return await value();
        } catch (err) {
          log.warn({ err }, `${name} cannot be told`);
          return null;
        }
      };
      watched.set(name, ask);
      showAtScrape(registry, name, ask);
    },
    value: async (name) => (await watched.get(name)?.()) ?? null,
    snapshot: async () => (await registry.getMetricsAsJSON()) as unknown as MetricsSnapshot,
    scrape: async () => ({ contentType: registry.contentType, body: await registry.metrics() }),
  };
}

function instruments(registry: Registry) {
  const registers = [registry];
  const counter = <L extends string = never>(name: string, help: string, labels: L[] = []) =>
    new Counter<L>({ name, help, labelNames: labels, registers });
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const spread = <L extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    labels: L[] = [],
  ) => new Histogram<L>({ name, help, buckets, labelNames: labels, registers });
  return {
    requests: counter('weir_requests_total', 'Answers by route and status.', ['route', 'status']),
    requestSeconds: spread(
      'weir_request_seconds',
      'From the head of a request to its answer.',
      requestSeconds,
      ['route'],
    ),
    receipts: counter('weir_receipts_total', 'Receipts given, by kind.', ['kind']),
    receivedBytes: counter('weir_received_bytes_total', 'Bytes of stored deliveries.'),
    conflicts: counter('weir_conflicts_total', 'Known idempotency keys with other bytes.'),
    uploadFailures: counter('weir_upload_failures_total', 'Uploads that the store did not take.'),
    storeErrors: counter('weir_store_errors_total', 'Calls of a store that failed.', ['store']),
    parseSeconds: spread('weir_parse_task_seconds', 'Parsing of one task.', workSeconds),
    deliveries: counter('weir_parsed_deliveries_total', 'Deliveries parsed, by status.', [
      'status',
    ]),
    records: counter('weir_records_total', 'Records read, by outcome.', ['outcome']),
    values: counter('weir_values_total', 'Values of parsed records, by outcome.', ['outcome']),
    difference: gauge(
      'weir_accounting_difference',
      'Records and values that the accounting lost or made up. Must be 0.',
    ),
    insertBytes: spread('weir_insert_bytes', 'Bytes of one insert.', insertBytes),
    insertSeconds: spread('weir_insert_seconds', 'One insert, until it is durable.', workSeconds),
    orphans: gauge('weir_orphan_objects', 'Stored objects that no delivery refers to.'),
    orphansRemoved: counter('weir_orphan_objects_removed_total', 'Orphans removed after 30 days.'),
    scrubbed: counter('weir_scrub_artifacts_total', 'Stored artifacts checked.'),
    scrubbedBytes: counter('weir_scrub_bytes_total', 'Bytes of stored artifacts checked.'),
  };
}

function showAtScrape(
  registry: Registry,
  name: WatchedGauge,
  ask: () => Promise<number | null>,
): void {
  new Gauge({
    name,
    help: watchedGauges[name],
    registers: [registry],
    async collect() {
      const value = await ask();
      // The other values are shown all the same.
      if (value === null) this.remove();
      else this.set(value);
    },
  });
}
