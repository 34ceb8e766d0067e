import { fileURLToPath } from 'node:url';
import { appRoutes } from '../app/routes.ts';
import { findInCatalog, findVisitor, SessionCookie } from '../app/sessions.ts';
import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { ClientAddress } from '../http/client-address.ts';
import type { Route } from '../http/routes.ts';
import { startLocatePool } from '../parse/locate-pool.ts';
import type { ParsePool } from '../parse/pool.ts';
import type { Rates } from '../rates/rates.ts';
import { openExplorer } from '../samples/explore.ts';
import { openProof } from '../samples/open-proof.ts';
import { openapiRoute } from '../serve/openapi.ts';
import { type Dependency, partsOf } from '../serve/ops.ts';
import type { Clock } from '../std/clock.ts';
import { isDemo, list } from './api.ts';
import { appWorks } from './app-works.ts';
import { demoCompanyId } from './demo/deployment.ts';
import type { Settings } from './settings.ts';
import type { OpenedSamples } from './stores.ts';

export interface AppSetup {
  readonly settings: Settings;
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
  readonly samples: OpenedSamples;
  readonly rates: Rates;
  wakeParsing(): void;
  /** As `/readyz` asks them. */
  readonly dependencies: readonly Dependency[];
  /** The threads that parse what comes in. */
  readonly pool: ParsePool;
  readonly clock: Clock;
}

const consoleDir = fileURLToPath(new URL('../../dist/console', import.meta.url));

/** What the app listener serves: the app, and the API's document for who reads it there. */
export function openApp(setup: AppSetup): {
  routes: Route[];
  close(): Promise<unknown>;
} {
  const { settings, catalog, artifacts, samples, rates, pool, dependencies, clock } = setup;
  const proof = openProof(samples.address);
  const explorer = openExplorer(samples.address);
  const locating = startLocatePool({ artifactsUrl: settings.artifactsUrl });
  const demo = isDemo(settings);
  const cookie = new SessionCookie(settings.appUrl);
  const routes = appRoutes({
    ...{ catalog, artifacts, clock, demo, audit: catalog.audit, readOnly: demo },
    ...{ samples: samples.store, history: proof.history, explorer, locate: locating.locate },
    ...appWorks({ settings, catalog, samples: samples.store, pool }),
    ...{ apiUrl: settings.baseUrl, appUrl: settings.appUrl, consoleDir },
    origins: new Set([new URL(settings.appUrl).origin]),
    ...{ health: () => partsOf(dependencies), wakeParsing: setup.wakeParsing },
    ...{ rates, cookie, addresses: new ClientAddress(list(settings.WEIR_TRUSTED_PROXIES)) },
    findSession: demo
      ? findVisitor(catalog.directory, demoCompanyId)
      : findInCatalog(catalog.users, cookie),
  });
  return {
    routes: [...routes, openapiRoute(settings.baseUrl)],
    close: () => Promise.all([proof.close(), explorer.close(), locating.close()]),
  };
}
