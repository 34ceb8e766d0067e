import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AnswerOf } from '../../src/domain/api/app/endpoint.ts';
import type { readOverview } from '../../src/domain/api/app/overview.ts';
import { signedIn } from '../support/signed-in.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';

type Overview = AnswerOf<typeof readOverview>;

let weir: TestWeir;
let source: TestSource;
beforeAll(async () => {
  weir = await TestWeir.start();
  source = await weir.source();
});
afterAll(() => weir.stop());

async function overview(query = '', of: string | null = source.sourceId): Promise<Overview> {
  const who = of === null ? {} : { of };
  const user = await signedIn(weir, { ...who, permissions: ['sources.read'] });
  const answer = await user(`/app/api/overview${query}`);
  expect(answer.status).toBe(200);
  return (await answer.json()) as Overview;
}

test('tells how deliveries go, without sandbox unless that is asked for', async () => {
  const quiet = await overview();
  expect(quiet).toMatchObject({
    ...{ sandbox: false, parse_lag: null, rejected: { records: 0, deliveries: 0 } },
    backlog: { deliveries: 0, oldest_received_at: null },
  });
  const sandbox = await source.withKey({ sandbox: true });
  const good = await source.sender.push({ day: '2026-01-01', amount: '1' });
  const bad = await source.sender.push({ day: '2026-01-02', amount: 'x' });
  const tried = await sandbox.push({ day: '2026-01-03', amount: 'x' });
  for (const receipt of [good, bad, tried]) await source.sender.settled(receipt);
  const found = await overview();
  const sum = (of: Overview) => of.minutes.reduce((all, one) => all + one.deliveries, 0);
  expect([found.minutes.length, sum(found)]).toEqual([15, 2]);
  expect(found.minutes.some((one) => one.bytes > 100)).toBe(true);
  expect(found.parse_lag!.deliveries).toBe(2);
  expect(found.parse_lag!.p95_ms).toBeGreaterThanOrEqual(found.parse_lag!.median_ms);
  expect(found.parse_lag!.median_ms).toBeGreaterThan(0);
  expect(found.rejected).toEqual({ records: 1, deliveries: 1 });
  const all = await overview('?sandbox=true');
  expect([all.sandbox, sum(all), all.rejected.records]).toEqual([true, 3, 2]);
  const nobody = await overview('', null);
  expect([nobody.sources, sum(nobody), nobody.parse_lag]).toEqual([0, 0, null]);
});

test('tells whether the service is well, as /readyz does', async () => {
  const { health } = await overview();
  const ready = await fetch(`http://127.0.0.1:${weir.running.place.ops}/readyz`);
  expect(health).toEqual(await ready.json());
  expect(health).toMatchObject({ status: 'ready', parts: { catalog: 'ok', samples: 'ok' } });
});

test('tells what verify and rebuild found last, and which artifacts are damaged', async () => {
  expect(await overview()).toMatchObject({ verify: null, rebuild: null, scrub: { damaged: 0 } });
  await weir.running.cli('verify');
  const [artifactId] = await source.deliveries();
  const check = { artifactId: artifactId!, at: Date.now(), damage: 'changed' as const };
  await weir.catalog.upkeep.noteChecks([check]);
  const found = await overview();
  expect(found.verify).toMatchObject({ differences: 0, swapped: false });
  expect(Math.abs(Date.parse(found.verify!.at) - Date.now())).toBeLessThan(30_000);
  expect(found.rebuild).toBeNull();
  expect(found.scrub).toMatchObject({
    damaged: 1,
    newest: [{ artifact_id: artifactId, source_id: source.sourceId, damage: 'changed' }],
  });
  expect((await overview('', null)).scrub).toMatchObject({ damaged: 0, newest: [] });
});
