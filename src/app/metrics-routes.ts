import { declareMetric, listMetrics, renameMetric } from '../domain/api/app/metrics.ts';
import { AppError } from '../domain/app-errors.ts';
import { compareUtf8 } from '../domain/labels.ts';
import type { Metric } from '../domain/nouns.ts';
import type { Route } from '../http/routes.ts';
import type { AppParts } from './parts.ts';
import { serveEndpoint } from './serve-endpoint.ts';
import type { SignedIn } from './session.ts';

export function metricRoutes(parts: AppParts): Route[] {
  const { directory } = parts.catalog;
  const known = async (by: SignedIn, key: string) =>
    (await directory.metrics(by.company.companyId)).find((metric) => metric.key === key);
  return [
    serveEndpoint(parts, listMetrics, async ({ by }) => {
      const metrics = await directory.metrics(by.company.companyId);
      return { metrics: metrics.map(metricView) };
    }),
    serveEndpoint(parts, declareMetric, async ({ by, body, now }) => {
      const { key, name, unit, labels } = body;
      if (new Set(labels).size < labels.length) {
        const message = 'Each label must stand only once.';
        throw new AppError('invalid_argument', message, { field: 'labels' });
      }
      // To the catalog a second declaration is a new name; here it is a slip.
      if (await known(by, key)) {
        const message = 'A metric with this key is declared already.';
        throw new AppError('conflict', message, { reason: 'metric_exists', field: 'key' });
      }
      const metric = { key, name, unit, labels: [...labels].sort(compareUtf8) };
      await directory.declareMetric(by.company.companyId, metric, now);
      return metric;
    }),
    serveEndpoint(parts, renameMetric, async ({ by, params, body, now }) => {
      const metric = await known(by, params.key!);
      if (!metric) throw new AppError('not_found', 'The company has no such metric.');
      const renamed = { ...metric, name: body.name, unit: body.unit };
      await directory.declareMetric(by.company.companyId, renamed, now);
      return metricView(renamed);
    }),
  ];
}

function metricView({ key, name, unit, labels }: Metric) {
  return { key, name, unit, labels: [...labels] };
}
