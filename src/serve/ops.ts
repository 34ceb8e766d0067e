import type { Route } from '../http/routes.ts';
import type { Metrics } from '../metrics/metrics.ts';

/** One thing that the service needs; `check` rejects when it does not answer. */
export interface Dependency {
  readonly name: string;
  check(): Promise<void>;
  /** Without it nothing can be accepted or read; others only make the service `degraded`. */
  readonly required: boolean;
}

/** Why a part does not do its work, in words for `/readyz`; other failures are `away` there. */
export class NotReady extends Error {
  override readonly name = 'NotReady';
}

export interface OpsParts {
  readonly dependencies: readonly Dependency[];
  readonly metrics: Pick<Metrics, 'scrape' | 'value'>;
}

/**
 * `/livez`: the process runs. `/readyz`: it can do its work, what is away, and then for how long
 * the oldest delivery has waited to be parsed. `/metrics`: the Prometheus text format.
 */
export function opsRoutes({ dependencies, metrics }: OpsParts): Route[] {
  return [
    {
      method: 'GET',
      pattern: '/livez',
      async handle(exchange) {
        exchange.reply({ status: 200, headers: text, body: 'ok\n' });
      },
    },
    {
      method: 'GET',
      pattern: '/readyz',
      async handle(exchange) {
        const { ready, body } = await readiness({ dependencies, metrics });
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
        exchange.reply({ status: ready ? 200 : 503, headers, body: JSON.stringify(body) });
      },
    },
    {
      method: 'GET',
      pattern: '/metrics',
      async handle(exchange) {
        const { contentType, body } = await metrics.scrape();
        const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store' };
        exchange.reply({ status: 200, headers, body });
      },
    },
  ];
}

const text = { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' };

/** What answers now, and whether the service can do its work with it. */
export async function partsOf(dependencies: readonly Dependency[]) {
  const checked = await Promise.all(
    dependencies.map(async ({ name, check, required }) => {
      const state = await check().then(
        () => 'ok',
        (error) => (error instanceof NotReady ? error.message : 'away'),
      );
      return { name, state, answers: state === 'ok', required };
    }),
  );
  const ready = checked.every((one) => one.answers || !one.required);
  const degraded = checked.some((one) => !one.answers);
  const status = ready ? (degraded ? 'degraded' : 'ready') : 'away';
  const parts = Object.fromEntries(checked.map((one) => [one.name, one.state]));
  return { ready, degraded, status, parts } as const;
}

async function readiness({ dependencies, metrics }: OpsParts) {
  const { ready, degraded, status, parts } = await partsOf(dependencies);
  if (!degraded) return { ready, body: { status, parts } };
  const oldest = await metrics.value('weir_backlog_oldest_seconds');
  return { ready, body: { status, parts, backlog_oldest_seconds: oldest } };
}
