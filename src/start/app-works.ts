import { setTimeout as sleep } from 'node:timers/promises';
import type { TryDelivery } from '../app/dry-run.ts';
import type { AppParts } from '../app/parts.ts';
import type { Catalog } from '../catalog/catalog.ts';
import { AppError } from '../domain/app-errors.ts';
import { personalNames } from '../domain/personal.ts';
import { Turns } from '../parse/turns.ts';
import { type DryRunTools, dryRun, NotTried } from './dry-run.ts';
import { newKey } from './new-key.ts';
import { newSecret } from './new-secret.ts';
import { withdrawalsOf } from './reparsing.ts';
import type { SecretKeySettings } from './secret-key.ts';

/** What a dry run of the app compares, samples and rejections: it has no process of its own. */
const triedRowsMax = 200_000;
/** Deliveries that wait to be tried: one is at a time. */
const tryingMax = 8;
/** The parse loop takes up a withdrawal within a second; a large one goes on by itself. */
const withdrawalWait = { msMax: 10_000, pollMs: 100 };

export interface AppWorkParts extends DryRunTools {
  readonly catalog: Catalog;
  readonly settings: SecretKeySettings;
}

/** What the app does that needs settings, threads or stores of the service. */
export function appWorks(
  parts: AppWorkParts,
): Pick<AppParts, 'tryDelivery' | 'newKey' | 'newSecret' | 'untilWithdrawn'> {
  const turns = new Turns(1);
  let trying = 0;
  return {
    async tryDelivery(...of) {
      if (trying >= tryingMax) throw new AppError('conflict', busy, { reason: 'dry_run_busy' });
      trying += 1;
      try {
        return await turns.run(() => tryDelivery(parts, ...of));
      } finally {
        trying -= 1;
      }
    },
    newKey,
    newSecret: () => newSecret(parts.settings),
    async untilWithdrawn(sourceId, generation) {
      const awaited = withdrawalsOf(parts.catalog, sourceId, generation);
      const until = Date.now() + withdrawalWait.msMax;
      for (;;) {
        const waiting = await awaited.remaining();
        if (waiting === 0 || Date.now() >= until) return waiting;
        await sleep(withdrawalWait.pollMs);
      }
    },
  };
}

const busy = 'Too many dry runs are under way. Try again in a moment.';

async function tryDelivery(
  tools: DryRunTools,
  ...[delivery, shape, personalNow = personalNames(shape.fields)]: Parameters<TryDelivery>
): ReturnType<TryDelivery> {
  try {
    const tried = { shape, personalNow };
    const { parsed, ...would } = await dryRun(tools, delivery, tried, triedRowsMax);
    const { records, rejected, parsed: good } = parsed.counts;
    return {
      ...{ outcome: 'tried', records, parsed: good, rejected, newlyRejected: would.failing },
      ...{ samples: would.samples!, refusal: parsed.refusal, rejections: would.rejections },
    };
  } catch (error) {
    if (error instanceof NotTried) return { outcome: error.reason };
    throw error;
  }
}
