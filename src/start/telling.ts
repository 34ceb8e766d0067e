import type { Catalog } from '../catalog/catalog.ts';
import type { RequestWatch } from '../http/routes.ts';
import type { Metrics } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';
import type { Tracing } from '../tracing/tracing.ts';

/** Tells of each answer of a listener. */
export function requestWatch(
  metrics: Pick<Metrics, 'answered'>,
  tracing: Pick<Tracing, 'answered'>,
): RequestWatch {
  return (exchange, pattern) => {
    const began = performance.now();
    const route = pattern ?? 'none';
    exchange.onAnswer((status, receiptOf) => {
      metrics.answered(route, status, (performance.now() - began) / 1_000);
      if (tracing.answered === null) return;
      const { method } = exchange.head;
      const traceparent = exchange.head.firstHeader('traceparent');
      tracing.answered({ began, method, route, status, traceparent, receiptOf: receiptOf ?? null });
    });
  };
}

interface Told {
  readonly catalog: Pick<Catalog, 'queue' | 'upkeep'>;
  readonly clock: Clock;
}

/** Has what the catalog knows asked for at each scrape, by one process of a service. */
export function watchCatalog(metrics: Metrics, { catalog, clock }: Told): void {
  const { queue, upkeep } = catalog;
  let asked: ReturnType<typeof queue.backlog> | null = null;
  const backlog = () => {
    // Counting a long backlog takes a while: once a scrape.
    asked ??= queue.backlog().finally(() => {
      asked = null;
    });
    return asked;
  };
  metrics.watch('weir_backlog_deliveries', async () => (await backlog()).deliveries);
  metrics.watch('weir_backlog_oldest_seconds', async () => {
    const { oldestReceivedAt } = await backlog();
    return oldestReceivedAt === null ? 0 : Math.max(0, clock() - oldestReceivedAt) / 1_000;
  });
  metrics.watch('weir_scrub_damaged_deliveries', () => upkeep.damagedCount());
}
