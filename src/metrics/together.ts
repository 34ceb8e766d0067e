import { type Aggregator, AggregatorRegistry, Registry } from 'prom-client';

/** The metrics of one process in one moment, as they cross to another. */
export type MetricsSnapshot = readonly MetricState[];

interface MetricState {
  readonly name: string;
  readonly type: string;
  readonly aggregator?: string;
  readonly values: readonly { readonly value: unknown }[];
}

/**
 * How values of processes become one, where it is not their sum. What is the same for all of them
 * (the backlog, damaged deliveries) is told by one process and missing in the others.
 */
const howTogether: Readonly<Record<string, Aggregator>> = {
  weir_accepting: 'min',
  weir_rates_local: 'max',
  process_start_time_seconds: 'min',
  nodejs_eventloop_lag_seconds: 'max',
  nodejs_eventloop_lag_min_seconds: 'min',
  nodejs_eventloop_lag_max_seconds: 'max',
  nodejs_eventloop_lag_mean_seconds: 'max',
  nodejs_eventloop_lag_stddev_seconds: 'max',
  nodejs_eventloop_lag_p50_seconds: 'max',
  nodejs_eventloop_lag_p90_seconds: 'max',
  nodejs_eventloop_lag_p99_seconds: 'max',
};

/** Several processes' metrics as one service's, in the Prometheus text format. */
export async function textOf(
  snapshots: readonly MetricsSnapshot[],
): Promise<{ readonly contentType: string; readonly body: string }> {
  const registry = together(snapshots);
  return { contentType: Registry.PROMETHEUS_CONTENT_TYPE, body: await registry.metrics() };
}

/**
 * What a process leaves behind: its counts, so that those of the service do not fall when it ends;
 * its gauges end with it.
 *
 * @param before what ended processes have left already
 */
export async function leftBy(
  before: MetricsSnapshot,
  last: MetricsSnapshot,
): Promise<MetricsSnapshot> {
  const counts = last.filter(({ type }) => type === 'counter' || type === 'histogram');
  return (await together([before, counts]).getMetricsAsJSON()) as unknown as MetricsSnapshot;
}

function together(snapshots: readonly MetricsSnapshot[]): Registry {
  const arranged = snapshots.map((snapshot) =>
    snapshot.map((metric) => ({
      ...metric,
      // A mean of nothing is no number, and would leave none of the others'.
      values: metric.values.filter(({ value }) => Number.isFinite(value)),
      aggregator: howTogether[metric.name] ?? metric.aggregator ?? 'sum',
    })),
  );
  return AggregatorRegistry.aggregate(arranged);
}
