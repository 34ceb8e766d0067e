import type { Route } from '../http/routes.ts';

/** One thing that the service needs; `check` rejects when it does not answer. */
export interface Dependency {
  readonly name: string;
  check(): Promise<void>;
  /** Without it nothing can be accepted or read; others only make the service `degraded`. */
  readonly required: boolean;
}

/** `/livez`: the process runs. `/readyz`: it can do its work, and what is away. */
export function opsRoutes(dependencies: readonly Dependency[]): Route[] {
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
        const { ready, body } = await readiness(dependencies);
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' };
        exchange.reply({ status: ready ? 200 : 503, headers, body: JSON.stringify(body) });
      },
    },
  ];
}

const text = { 'Content-Type': 'text/plain', 'Cache-Control': 'no-store' };

async function readiness(dependencies: readonly Dependency[]) {
  const checked = await Promise.all(
    dependencies.map(async ({ name, check, required }) => {
      const answers = await check().then(
        () => true,
        () => false,
      );
      return { name, answers, required };
    }),
  );
  const ready = checked.every((one) => one.answers || !one.required);
  const degraded = checked.some((one) => !one.answers);
  const status = ready ? (degraded ? 'degraded' : 'ready') : 'away';
  const parts = Object.fromEntries(checked.map((one) => [one.name, one.answers ? 'ok' : 'away']));
  return { ready, body: { status, parts } };
}
