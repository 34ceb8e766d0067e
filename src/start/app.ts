import { fileURLToPath } from 'node:url';
import { appRoutes } from '../app/routes.ts';
import { findInCatalog, findVisitor, SessionCookie } from '../app/sessions.ts';
import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { ClientAddress } from '../http/client-address.ts';
import type { Route } from '../http/routes.ts';
import { startLocatePool } from '../parse/locate-pool.ts';
import type { Rates } from '../rates/rates.ts';
import { openProof } from '../samples/open-proof.ts';
import { openapiRoute } from '../serve/openapi.ts';
import type { Clock } from '../std/clock.ts';
import { isDemo, list } from './api.ts';
import { demoCompanyId } from './demo/deployment.ts';
import type { Settings } from './settings.ts';
import type { OpenedSamples } from './stores.ts';

export interface AppSetup {
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
  readonly samples: OpenedSamples;
  readonly rates: Rates;
  readonly clock: Clock;
}

const consoleDir = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** What the app listener serves: the app, and the API's document for who reads it there. */
export function openApp({ settings, catalog, artifacts, samples, rates, clock }: AppSetup): {
  routes: Route[];
  close(): Promise<unknown>;
} {
  const proof = openProof(samples.address);
  const locating = startLocatePool({ artifactsUrl: settings.artifactsUrl });
  const demo = isDemo(settings);
  const cookie = new SessionCookie(settings.appUrl);
  const routes = appRoutes({
    ...{ catalog, artifacts, clock, demo, audit: catalog.audit, readOnly: demo },
    ...{ samples: samples.store, history: proof.history, locate: locating.locate },
    ...{ apiUrl: settings.baseUrl, appUrl: settings.appUrl, consoleDir },
    origins: new Set([new URL(settings.appUrl).origin]),
    ...{ rates, cookie, addresses: new ClientAddress(list(settings.WEIR_TRUSTED_PROXIES)) },
    findSession: demo
      ? findVisitor(catalog.directory, demoCompanyId)
      : findInCatalog(catalog.users, cookie),
  });
  return {
    routes: [...routes, openapiRoute(settings.baseUrl)],
    close: () => Promise.all([proof.close(), locating.close()]),
  };
}
