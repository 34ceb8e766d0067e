import { expect, test } from 'vitest';
import type { Reparses } from '../../src/catalog/catalog.ts';
import { takeAllSources } from '../../src/proof/all-sources.ts';

/** Turns as the catalog gives them: one holder at a time, taken over once its time is over. */
function turns() {
  let holder: { token: string; until: number } | null = null;
  let count = 0;
  const reparses: Pick<Reparses, 'takeTurn' | 'extendTurn' | 'endTurn'> = {
    async takeTurn({ leaseMs, now }) {
      if (holder !== null && holder.until > now) return null;
      holder = { token: `${++count}`, until: now + leaseMs };
      return { token: holder.token, number: count, reparsedUpTo: 0 };
    },
    async extendTurn(token, until) {
      if (holder?.token !== token) return false;
      holder = { token, until };
      return true;
    },
    async endTurn(token) {
      if (holder?.token === token) holder = null;
    },
  };
  return reparses;
}

test('a second one waits until the first has ended', async () => {
  const reparses = turns();
  const first = await takeAllSources(reparses, Date.now);
  let taken = false;
  const second = takeAllSources(reparses, Date.now).then((turn) => {
    taken = true;
    return turn;
  });
  await new Promise((resolve) => setTimeout(resolve, 250));
  expect(taken).toBe(false);
  await first.end();
  await (await second).end();
  expect(taken).toBe(true);
});

test('who stood still for so long that somebody else took over is told', async () => {
  const reparses = turns();
  let now = 1_000;
  const slow = await takeAllSources(reparses, () => now);
  await slow.mustHold();
  now += 3_600_000;
  const other = await takeAllSources(reparses, () => now);
  await expect(slow.mustHold()).rejects.toThrow(/turn of all sources was lost/);
  await slow.end();
  await other.mustHold();
  await other.end();
});
