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
  readonly metrics: Pick<Metrics, 'scrape' | 'snapshot' | 'value' | 'watch'>;
}

/** What answers now, and whether the service can do its work with it. */
export interface Health {
  /** Everything that is required answers. */
  readonly ready: boolean;
  /** Something does not answer. */
  readonly degraded: boolean;
  readonly status: 'ready' | 'degraded' | 'away';
  readonly parts: Readonly<Record<string, string>>;
}

/** What `/readyz` and `/metrics` tell, of one process or of several. */
export interface Ops {
  health(): Promise<Health>;
  /** For how long the oldest delivery has waited to be parsed; null: that cannot be told. */
  backlogOldestSeconds(): Promise<number | null>;
  scrape(): Promise<{ readonly contentType: string; readonly body: string }>;
}

/** Of this process. */
export function opsOf({ dependencies, metrics }: OpsParts): Ops {
  return {
    health: () => partsOf(dependencies),
    backlogOldestSeconds: () => metrics.value('weir_backlog_oldest_seconds'),
    scrape: () => metrics.scrape(),
  };
}

/**
 * `/livez`: the process runs. `/readyz`: it can do its work, what is away, and then for how long
 * the oldest delivery has waited to be parsed. `/metrics`: the Prometheus text format.
 */
export function opsRoutes(ops: Ops): Route[] {
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
        const { ready, body } = await readiness(ops);
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
        exchange.reply({ status: ready ? 200 : 503, headers, body: JSON.stringify(body) });
      },
    },
    {
      method: 'GET',
      pattern: '/metrics',
      async handle(exchange) {
        const { contentType, body } = await ops.scrape();
        const headers = { 'Content-Type': contentType, 'Cache-Control': 'no-store' };
        exchange.reply({ status: 200, headers, body });
      },
    },
  ];
}

const text = { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' };

export async function partsOf(dependencies: readonly Dependency[]): Promise<Health> {
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
  const parts = Object.fromEntries(checked.map((one) => [one.name, one.state]));
  return { ready, degraded, status: statusOf(ready, degraded), parts };
}

/**
 * The health of several processes: ready when all are. A part is as the first process tells it to
 * which it does not answer; a process that tells nothing stands beside the parts, by its name.
 */
export function healthTogether(processes: Readonly<Record<string, Health | null>>): Health {
  const parts: Record<string, string> = {};
  for (const health of Object.values(processes)) {
    for (const [name, state] of Object.entries(health?.parts ?? {})) {
      if ((parts[name] ?? 'ok') === 'ok') parts[name] = state;
    }
  }
  for (const [name, health] of Object.entries(processes)) {
    if (health === null) parts[name] = 'away';
  }
  const all = Object.values(processes);
  const ready = all.every((health) => health?.ready ?? false);
  const degraded = all.some((health) => health?.degraded ?? true);
  return { ready, degraded, status: statusOf(ready, degraded), parts };
}

function statusOf(ready: boolean, degraded: boolean): Health['status'] {
  if (!ready) return 'away';
  return degraded ? 'degraded' : 'ready';
}

async function readiness(ops: Ops) {
  const { ready, degraded, status, parts } = await ops.health();
  if (!degraded) return { ready, body: { status, parts } };
  const oldest = await ops.backlogOldestSeconds();
  return { ready, body: { status, parts, backlog_oldest_seconds: oldest } };
}
