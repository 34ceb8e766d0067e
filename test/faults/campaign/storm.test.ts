import { expect, test } from 'vitest';
import { minioOrSkip } from '../../support/minio.ts';
import { describeWith } from '../../support/need.ts';
import { postgresOrSkip } from '../../support/postgres.ts';
import { redisOrSkip } from '../../support/redis.ts';
import { seedOf } from '../../support/seed.ts';
import { type CampaignResult, runCampaign } from './campaign.ts';
import { runText } from './report.ts';

/** Short runs of what `npm run faults` does for as long as one likes. */

const timeout = 240_000;
/** Of a storm: an idle machine comes to some hundreds, a busy one to some tens. */
const okLeast = 10;
// Without MinIO the storm still has the service and its engine; the suites of MinIO say why.
const minio = await minioOrSkip();
const store = minio.reason === null ? 'minio' : 'files';
const needed = [minio, await postgresOrSkip(), await redisOrSkip()];
const servers = needed.find((one) => one.reason !== null) ?? minio;

test(`a storm of kills under load (${store}): every delivery is accounted for`, {
  timeout,
}, async () => {
  const seed = seedOf(`storm on ${store}`);
  const result = await runCampaign({ seed, store, seconds: 12, faults: true, restMs: 20 });
  expectAllHeld(result);
  const { serviceKills, engineKills, minioKills } = result.faults;
  const killed = { serviceKills, engineKills, ...(store === 'minio' && { minioKills }) };
  expect(neverKilled(killed)).toEqual([]);
  expect(result.totals.ok).toBeGreaterThan(okLeast);
});

describeWith('a storm on servers', servers, () => {
  const title = 'two processes on Postgres, MinIO and Redis: every delivery is accounted for';
  test(title, { timeout }, async () => {
    const seed = seedOf('storm on servers');
    const run = { seed, store: 'servers', seconds: 12, faults: true, restMs: 20 } as const;
    const result = await runCampaign(run);
    expectAllHeld(result);
    const { serviceKills, processKills, engineKills, ...others } = result.faults;
    const { minioKills, postgresKills, redisKills } = others;
    const killed = { serviceKills, processKills, engineKills, minioKills };
    expect(neverKilled({ ...killed, postgresKills, redisKills })).toEqual([]);
    expect(result.totals.ok).toBeGreaterThan(okLeast);
  });
});

test('without faults every attempt is answered, and no object is left over', {
  timeout,
}, async () => {
  const seed = seedOf('load without faults');
  const run = { seed, store: 'files', seconds: 3, faults: false, restMs: 10 } as const;
  const result = await runCampaign(run);
  expectAllHeld(result);
  const { totals, faults } = result;
  expect(faults).toMatchObject({ kills: 0, stops: 0, selfEnds: 0 });
  expect(totals).toMatchObject({ unknownRecovered: 0, unknownLost: 0, orphans: 0 });
  expect(totals.readsAnswered).toBe(totals.reads);
  expect(totals.ok).toBeGreaterThan(50);
});

/** A storm without one of them would prove nothing of it. */
function neverKilled(kills: Readonly<Record<string, number | undefined>>): string[] {
  return Object.keys(kills).filter((name) => !((kills[name] ?? 0) > 0));
}

function expectAllHeld(result: CampaignResult): void {
  console.log(runText(result));
  expect(result.checks.filter((check) => check.failures > 0)).toEqual([]);
}
