import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { LocateAnswer, LocateTask } from '../parse/messages.ts';
import type { Rates } from '../rates/rates.ts';
import type { SampleHistory } from '../samples/proof.ts';
import type { SampleStore } from '../samples/samples.ts';
import type { EndpointParts } from './serve-endpoint.ts';
import type { SessionCookie } from './sessions.ts';

/** What the app is put together from (`start/app.ts`). */
export interface AppParts extends EndpointParts {
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
  readonly samples: SampleStore;
  readonly history: SampleHistory;
  /** Reads records of a stored body again, in a thread (`proof/records.ts`). */
  locate(task: LocateTask): Promise<LocateAnswer>;
  readonly rates: Rates;
  readonly addresses: ClientAddress;
  readonly cookie: SessionCookie;
  /** As callers and browsers reach them. */
  readonly apiUrl: string;
  readonly appUrl: string;
  /** Where the build of the console is. */
  readonly consoleDir: string;
  /** A demo deployment. */
  readonly demo: boolean;
}
