import type { Route } from '../http/routes.ts';
import { deliveryRoutes } from './deliveries-routes.ts';
import { keyRoutes } from './keys-routes.ts';
import { metricRoutes } from './metrics-routes.ts';
import { overviewRoutes } from './overview-routes.ts';
import { pageRoutes } from './pages-routes.ts';
import type { AppParts } from './parts.ts';
import { sampleRoutes } from './samples-routes.ts';
import { sessionRoutes } from './session-routes.ts';
import { sourceRoutes } from './sources-routes.ts';

/** Everything that the app listener serves, but for the API's document. */
export function appRoutes(parts: AppParts): Route[] {
  return [
    ...sessionRoutes(parts),
    ...sourceRoutes(parts),
    ...metricRoutes(parts),
    ...keyRoutes(parts),
    ...deliveryRoutes(parts),
    ...sampleRoutes(parts),
    ...overviewRoutes(parts),
    ...pageRoutes(parts),
  ];
}
