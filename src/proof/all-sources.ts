import { setTimeout as sleep } from 'node:timers/promises';
import type { Reparses } from '../catalog/catalog.ts';
import { assert } from '../std/assert.ts';
import type { Clock } from '../std/clock.ts';

/** The turn of all sources: nobody settles samples, and nobody else builds, while it is held. */
export interface AllSources {
  /** @throws Error when somebody else has taken the turn over: this process stood still too long */
  mustHold(): Promise<void>;
  end(): Promise<void>;
}

const leaseMs = 15_000;
const pollMs = 100;
/** Longer than a lease: what a dead process left is over by then. */
const waitMs = 25_000;

/** @throws Error when somebody else has a turn for all the time */
export async function takeAllSources(
  reparses: Pick<Reparses, 'takeTurn' | 'extendTurn' | 'endTurn'>,
  clock: Clock,
): Promise<AllSources> {
  const token = await taken(reparses, clock);
  const extend = () => reparses.extendTurn(token, clock() + leaseMs);
  let failure: unknown = null;
  const timer = setInterval(() => {
    extend().catch((error: unknown) => {
      failure = error;
    });
  }, leaseMs / 3);
  return {
    async mustHold() {
      if (await extend()) return;
      const message = 'the turn of all sources was lost: this process stood still for too long';
      throw new Error(message, { cause: failure });
    },
    async end() {
      clearInterval(timer);
      await reparses.endTurn(token);
    },
  };
}

async function taken(reparses: Pick<Reparses, 'takeTurn'>, clock: Clock): Promise<string> {
  assert(waitMs > leaseMs, 'a dead process is outlasted');
  for (let waited = 0; waited < waitMs; waited += pollMs) {
    const turn = await reparses.takeTurn({ sourceId: null, leaseMs, now: clock() });
    if (turn) return turn.token;
    await sleep(pollMs);
  }
  throw new Error(
    'another rebuild or verify is running, or samples are being settled all the time',
  );
}
