import { setTimeout as sleep } from 'node:timers/promises';
import type { CompanyCheck } from '../catalog/company-figures-contract.ts';
import { readOverview } from '../domain/api/app/overview.ts';
import type { Route } from '../http/routes.ts';
import { instant } from '../std/instant.ts';
import type { AppParts } from './parts.ts';
import { serveEndpoint } from './serve-endpoint.ts';

/** A store that hangs must not make the page wait. */
const healthWaitMs = 2_000;
const damagedShown = 5;

/** How the company's deliveries go, and whether the service is well. */
export function overviewRoutes(parts: AppParts): Route[] {
  const { figures } = parts.catalog;
  return [
    serveEndpoint(parts, readOverview, async ({ by, query, now }) => {
      const { companyId } = by.company;
      const sandbox = query.sandbox === 'true';
      const health = within(parts.health());
      const { sources, minutes, lag, backlog, rejected } = await figures.figures(companyId, {
        ...{ sandbox, now },
      });
      const checks = await figures.checks(companyId);
      return {
        ...{ at: instant(now), sandbox, sources, rejected },
        minutes: [...minutes],
        parse_lag: lag && {
          ...{ deliveries: lag.lookedAt, median_ms: lag.medianMs, p95_ms: lag.p95Ms },
        },
        backlog: {
          deliveries: backlog.deliveries,
          oldest_received_at: instant(backlog.oldestReceivedAt),
        },
        health: await health,
        scrub: await scrubOf(parts, companyId),
        verify: checkView(checks, 'verify'),
        rebuild: checkView(checks, 'rebuild'),
      };
    }),
  ];
}

type Health = Awaited<ReturnType<AppParts['health']>>;

async function within(asking: Promise<Health>): Promise<Health> {
  const late = new AbortController();
  const slow = sleep(healthWaitMs, null, { signal: late.signal, ref: false }).catch(() => null);
  const health = await Promise.race([asking, slow]);
  late.abort();
  if (health === null) return { status: 'degraded', parts: { service: 'a store is slow' } };
  return { status: health.status, parts: health.parts };
}

async function scrubOf({ catalog: { figures } }: AppParts, companyId: string) {
  const round = await figures.round();
  const { count, newest } = await figures.damaged(companyId, damagedShown);
  return {
    round_began_at: round && instant(round.beganAt),
    round_over: round?.over ?? false,
    damaged: count,
    newest: newest.map(({ artifactId, sourceId, damage, checkedAt }) => ({
      ...{ artifact_id: artifactId, source_id: sourceId, damage },
      checked_at: instant(checkedAt),
    })),
  };
}

function checkView(checks: readonly CompanyCheck[], name: CompanyCheck['check']) {
  const found = checks.find((one) => one.check === name);
  if (!found) return null;
  const { at, ms, differences, swapped } = found;
  return { at: instant(at), seconds: ms / 1_000, differences, swapped };
}
