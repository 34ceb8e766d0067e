import type { Logger } from 'pino';
import { listen } from '../http/listener.ts';
import { parseThreadsOf } from '../parse/pool.ts';
import { openRates } from '../rates/open.ts';
import type { ServiceRates } from '../rates/rates.ts';
import { type OpsParts, opsOf, opsRoutes } from '../serve/ops.ts';
import { monotonicClock } from '../std/clock.ts';
import type { Closing } from './parts.ts';
import type { Role } from './roles.ts';
import type { Settings } from './settings.ts';
import { type OpenedSamples, openServiceSamples } from './stores.ts';

/**
 * What a process of the service has from around it. A lone one makes all of it itself; one of
 * several has it from the supervisor that started it (`processes/`).
 */
export interface Surroundings {
  readonly roles: ReadonlySet<Role>;
  /** Of the processes of a service one does what is to be done once. */
  readonly isFirst: boolean;
  readonly parseThreads: number;
  /** Others of the service listen on its addresses too. */
  readonly sharesAddresses: boolean;
  openRates(): Promise<ServiceRates>;
  openSamples(): Promise<OpenedSamples>;
  /** Something waits to be parsed; other processes may have room. Cheap, called with each. */
  tellStored(): void;
  /** Has `wake` called when another process told so. */
  onStored(wake: () => void): void;
  /** Lets health and metrics be asked for. Called when every part is there. */
  openOps(parts: OpsParts): Promise<Closing>;
}

/** Of a service that is one process. */
export function alone(settings: Settings, log: Logger, roles: ReadonlySet<Role>): Surroundings {
  return {
    ...{ roles, isFirst: true, parseThreads: parseThreadsOf(1), sharesAddresses: false },
    openRates: () => openRates({ url: settings.WEIR_REDIS_URL, clock: monotonicClock, log }),
    openSamples: () => openServiceSamples(settings, log),
    tellStored() {},
    onStored() {},
    async openOps(parts) {
      parts.metrics.watch('weir_processes', () => 1);
      const ops = await listen(settings.WEIR_OPS_LISTEN, opsRoutes(opsOf(parts)), log);
      return () => ops.close(0);
    },
  };
}
