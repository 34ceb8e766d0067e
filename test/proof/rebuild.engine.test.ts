import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { rebuildCrashPoints } from '../../src/std/crash-point.ts';
import { accepted } from '../support/sender.ts';
import { weirCommand } from '../support/weir-command.ts';
import { documentBody, makeProofPlace, type ProofPlace } from './support.ts';

let place: ProofPlace;
let before: string;
let tables: string[];
beforeAll(async () => {
  place = await makeProofPlace();
  before = await place.reads();
  tables = await place.tables();
});
afterAll(() => place.stop());

describe('weir rebuild', { timeout: 120_000 }, () => {
  test('gives the same reads, byte for byte, and leaves nothing behind', async () => {
    const answer = await place.proof('rebuild');
    expect(answer).toMatchObject({ code: 0, swapped: true, differences: [] });
    expect(answer.deliveries).toBe(12);
    expect(answer.samples).toBeGreaterThan(700);
    expect(await place.reads()).toBe(before);
    expect(await place.tables()).toEqual(tables);
    expect(await place.proof('verify')).toMatchObject({ code: 0, differences: [] });
  });

  test('puts right what somebody changed in the sample store', async () => {
    await place.sql("ALTER TABLE samples UPDATE value = '666' WHERE metric = 'amount'");
    await place.sql('TRUNCATE TABLE sample_versions');
    await place.sql('TRUNCATE TABLE rejections');
    await place.sql('TRUNCATE TABLE delivery_generations');
    expect(await place.reads()).not.toBe(before);
    expect((await place.proof('rebuild')).code).toBe(0);
    expect(await place.reads()).toBe(before);
    expect(await place.proof('verify')).toMatchObject({ code: 0, differences: [] });
  });

  test.each(rebuildCrashPoints)(
    'killed at %s, reads stay the same, and it can run again',
    async (at) => {
      const env = { ...place.weir.running.env(), WEIR_CRASH_AT: at };
      expect((await weirCommand(env, 'rebuild', '--json')).code).toBe(-1);
      expect(await place.reads()).toBe(before);
      if (at !== 'fresh_made') place.turnsRunOut();
      // The service goes on, whatever is left behind.
      const { sender } = place.push;
      const late = await sender.push({ day: '2026-05-05', amount: at === 'swapped' ? '2' : '3' });
      expect((await sender.settled(late)).status).toBe('parsed');
      before = await place.reads();
      const { code, swapped } = await place.proof('rebuild');
      expect({ code, swapped }).toEqual({ code: 0, swapped: true });
      expect(await place.reads()).toBe(before);
      expect(await place.tables()).toEqual(tables);
    },
  );

  test('killed between the exchange of one table and the next, it can run again', async () => {
    const env = { ...place.weir.running.env(), WEIR_CRASH_AT: 'fresh_filled' };
    await weirCommand(env, 'rebuild', '--json');
    place.turnsRunOut();
    await place.sql('EXCHANGE TABLES samples AND samples_fresh');
    expect(await place.reads()).toBe(before);
    const { sender } = place.push;
    await sender.settled(await sender.push({ day: '2026-05-06', amount: '1' }));
    before = await place.reads();
    expect(await place.proof('verify')).toMatchObject({ code: 0, differences: [] });
    expect(await place.reads()).toBe(before);
    expect(await place.tables()).toEqual(tables);
  });

  test('what is pushed, corrected and parsed again meanwhile is not lost', async () => {
    const { push, document } = place;
    let stopped = false;
    const sent: { day: string; amount: string }[] = [];
    const load = (async () => {
      for (let i = 0; !stopped; i++) {
        const day = new Date(Date.UTC(2024, 0, 1 + (i % 300))).toISOString().slice(0, 10);
        const payload = { day, amount: `${i}` };
        accepted(await push.sender.push(payload));
        sent.push(payload);
        if (i % 40 === 0) accepted(await document.sender.document(documentBody(i, 200)));
      }
    })();
    const again = place.run('reparse', place.artifacts.document, '--shape-version', '2', '--json');
    for (let i = 0; i < 2; i++) {
      const { code, swapped, differences } = await place.proof('rebuild');
      expect({ code, swapped, differences }).toEqual({ code: 0, swapped: true, differences: [] });
    }
    stopped = true;
    await load;
    expect((await again).code).toBe(0);
    const last = await push.sender.push({ day: '2024-12-31', amount: '1' });
    await push.sender.settled(last);
    await settleAll();
    const newest = new Map(sent.map(({ day, amount }) => [day, amount]));
    const { samples } = await push.sender.samples('from=2024-01-01&to=2024-12-31');
    expect(Object.fromEntries(samples.map((one) => [one.period_start, one.value]))).toEqual(
      Object.fromEntries(newest),
    );
    expect(await place.proof('verify')).toMatchObject({ code: 0, differences: [] });
  });

  test('samples that were withdrawn do not come back', async () => {
    const { webhook } = place;
    const canary = '"7.10"';
    expect(await place.reads()).toContain(canary);
    await webhook.save({
      fields: [
        { name: 'day', role: 'period' },
        { name: 'cost', role: 'value', metric: 'cost' },
        { name: 'amount', personal: true, required: false },
      ],
    });
    await settleAll();
    before = await place.reads();
    expect(before).not.toContain(canary);
    expect(await place.proof('rebuild')).toMatchObject({ code: 0, swapped: true });
    expect(await place.reads()).toBe(before);
    expect(await place.proof('verify')).toMatchObject({ code: 0, differences: [] });
  });

  test('works without a service, and on a sample store that was lost', async () => {
    before = await place.reads();
    await place.weir.running.end();
    const { dataDir } = place.weir.running.place;
    await rm(join(dataDir, 'clickhouse'), { recursive: true });
    expect(await place.proof('rebuild')).toMatchObject({ code: 0, swapped: true });
    await place.weir.running.start();
    expect(await place.reads()).toBe(before);
  });

  test('a damaged and a missing artifact are named, and nothing is changed', async () => {
    before = await place.reads();
    const { first, document } = place.artifacts;
    await place.sql("ALTER TABLE samples UPDATE value = '5' WHERE value = '11.00'");
    const tampered = await place.reads();
    await place.changeByte(first);
    await rm(await place.fileOf(document));
    const { code, swapped, differences } = await place.proof('rebuild');
    expect({ code, swapped }).toEqual({ code: 1, swapped: false });
    expect(differences.map(({ artifact_id }) => artifact_id).sort()).toEqual(
      [first, document].sort(),
    );
    expect(differences.map(({ what }) => what).sort()).toEqual([
      'its artifact is missing, or not all there',
      'its artifact is not what was accepted',
    ]);
    expect(await place.reads()).toBe(tampered);
    expect(await place.tables()).toEqual(tables);
  });
});

/** Waits until nothing is queued or being parsed. */
async function settleAll(): Promise<void> {
  const end = Date.now() + 60_000;
  while ((await place.weir.catalog.deliveries.waiting()).length > 0) {
    if (Date.now() > end) throw new Error('deliveries wait for more than a minute');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
