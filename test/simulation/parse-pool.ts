import { createHash } from 'node:crypto';
import type { ArtifactStore } from '../../src/artifacts/artifacts.ts';
import { TogetherReads } from '../../src/artifacts/together.ts';
import { accountingDifference } from '../../src/domain/accounting.ts';
import type { ParseAnswer, ParseInput, ParseOutcome } from '../../src/parse/messages.ts';
import type { ParsePool } from '../../src/parse/pool.ts';
import { Turns } from '../../src/parse/turns.ts';
import { parseDelivery } from '../../workers/delivery.ts';
import { type Caller, callOutside, type Fate, type Weather, type World } from './outside.ts';

/** Threads that are still to die in a run: too few for any delivery to be given up. */
export interface Deaths {
  left: number;
}

const dyingPercent = 15;

/**
 * Parse threads: the real parser over the process's own reads, as `workers/parse.ts` does it. A
 * thread that dies fails its task.
 */
export function parsePool(
  world: World,
  caller: Caller,
  { weather, deaths }: { readonly weather: Weather; readonly deaths: Deaths },
  artifacts: ArtifactStore,
): ParsePool {
  const turns = new Turns(1);
  const away = (why: Fate) => new Error(`a thread ended: ${why}`);
  const parse = async (deliveries: readonly ParseInput[]): Promise<ParseAnswer> => {
    const together = new TogetherReads(
      artifacts,
      deliveries.map(({ place }) => place),
    );
    const outcomes: ParseOutcome[] = [];
    for (const [i, input] of deliveries.entries()) {
      outcomes.push(await outcomeOf(input, together.body(i)));
    }
    await callOutside(world, caller, {
      ...{ name: `threads parse ${deliveries.length}`, weather, away, inside: true },
      effect: () => {},
    });
    if (deaths.left > 0 && world.random.percent(dyingPercent)) {
      deaths.left -= 1;
      throw new Error('a thread died');
    }
    return { outcomes };
  };
  return {
    threads: 1,
    run: ({ deliveries }) => turns.run(() => parse(deliveries)),
    close: async () => {},
  };
}

async function outcomeOf(input: ParseInput, read: Promise<Buffer>): Promise<ParseOutcome> {
  let body: Buffer;
  try {
    body = await read;
  } catch (error) {
    return { kind: 'unreadable', reason: String(error) };
  }
  if (createHash('sha256').update(body).digest('hex') !== input.sha256) {
    return { kind: 'damaged', reason: 'other bytes' };
  }
  const parsed = await parseDelivery(input, body);
  if (accountingDifference(parsed.counts, parsed.valuesSeen) !== 0) {
    throw new Error('assertion failed: the accounting of a delivery adds up');
  }
  return { kind: 'done', ...parsed };
}
