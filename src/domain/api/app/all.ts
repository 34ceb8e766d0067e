import * as deliveries from './deliveries.ts';
import type { Endpoint } from './endpoint.ts';
import * as keys from './keys.ts';
import * as metrics from './metrics.ts';
import * as overview from './overview.ts';
import * as samples from './samples.ts';
import * as session from './session.ts';
import * as sources from './sources.ts';

/** Every area of the app API, with all that it declares. */
const areas: Readonly<Record<string, object>> = {
  session,
  sources,
  metrics,
  keys,
  deliveries,
  samples,
  overview,
};

export interface NamedEndpoint {
  /** As the code names it: unique, and the document's `operationId`. */
  readonly id: string;
  readonly area: string;
  readonly endpoint: Endpoint;
}

/** All endpoints that the areas export; by name within an area, as modules list their exports. */
export const allEndpoints: readonly NamedEndpoint[] = Object.entries(areas).flatMap(
  ([area, declared]) =>
    Object.entries(declared)
      .filter((pair): pair is [string, Endpoint] => isEndpoint(pair[1]))
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([id, endpoint]) => ({ id, area, endpoint })),
);

/** Areas export schemas too. */
function isEndpoint(value: unknown): value is Endpoint {
  return typeof value === 'object' && value !== null && 'path' in value && 'needs' in value;
}
