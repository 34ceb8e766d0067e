import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Catalog, NewSecret } from '../catalog/catalog.ts';
import type { ClientAddress } from '../http/client-address.ts';
import type { LocateAnswer, LocateTask } from '../parse/messages.ts';
import type { Rates } from '../rates/rates.ts';
import type { SampleExplorer } from '../samples/explore-contract.ts';
import type { SampleHistory } from '../samples/proof.ts';
import type { SampleStore } from '../samples/samples.ts';
import type { TryDelivery } from './dry-run.ts';
import type { EndpointParts } from './serve-endpoint.ts';
import type { SessionCookie } from './sessions.ts';

/** What the app is put together from (`start/app.ts`). */
export interface AppParts extends EndpointParts {
  readonly catalog: Catalog;
  readonly artifacts: ArtifactStore;
  readonly samples: SampleStore;
  readonly history: SampleHistory;
  readonly explorer: Omit<SampleExplorer, 'close'>;
  /** Reads records of a stored body again, in a thread (`proof/records.ts`). */
  locate(task: LocateTask): Promise<LocateAnswer>;
  /** Has the parse loop look at once for what waits. */
  wakeParsing(): void;
  /** What of the service answers now, as `/readyz` tells it. */
  health(): Promise<{
    readonly status: 'ready' | 'degraded' | 'away';
    readonly parts: Readonly<Record<string, string>>;
  }>;
  readonly rates: Rates;
  readonly addresses: ClientAddress;
  readonly cookie: SessionCookie;
  readonly tryDelivery: TryDelivery;
  /** A fresh key or secret: its text, to be shown once, and what the catalog keeps of it. */
  newKey(of: { sandbox: boolean; demo?: boolean }): { text: string; keyId: string; hash: Buffer };
  newSecret(): { text: string; secret: NewSecret };
  /** Waits a while for withdrawn samples to be gone. @returns how many deliveries still wait */
  untilWithdrawn(sourceId: string, generation: number): Promise<number>;
  /** As callers and browsers reach them. */
  readonly apiUrl: string;
  readonly appUrl: string;
  /** Where the build of the console is. */
  readonly consoleDir: string;
  /** A demo deployment. */
  readonly demo: boolean;
}
