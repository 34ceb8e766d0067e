import { expect, test } from 'vitest';
import { minioOrSkip } from '../../support/minio.ts';
import { seedOf } from '../../support/seed.ts';
import { type CampaignResult, runCampaign } from './campaign.ts';
import { runText } from './report.ts';

/** Short runs of what `npm run faults` does for as long as one likes. */

const timeout = 240_000;
// Without MinIO the storm still has the service and its engine; the suites of MinIO say why.
const store = (await minioOrSkip()).reason === null ? 'minio' : 'files';

test(`a storm of kills under load (${store}): every delivery is accounted for`, {
  timeout,
}, async () => {
  const seed = seedOf(`storm on ${store}`);
  const result = await runCampaign({ seed, store, seconds: 20, faults: true, restMs: 20 });
  expectAllHeld(result);
  expect(result.faults.kills).toBeGreaterThanOrEqual(5);
  expect(result.totals.ok).toBeGreaterThan(50);
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

function expectAllHeld(result: CampaignResult): void {
  console.log(runText(result));
  expect(result.checks.filter((check) => check.failures > 0)).toEqual([]);
}
