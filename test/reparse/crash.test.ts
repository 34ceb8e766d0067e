import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import type { CrashPoint } from '../../src/std/crash-point.ts';
import { type FaultPlace, makePlace } from '../faults/place.ts';
import { accepted, Sender } from '../support/sender.ts';
import { weirCommand } from '../support/weir-command.ts';

const from = 'from=2026-01-01&to=2027-01-01';

/** Three deliveries of one day each; the second gives two of its own, and hides the first. */
async function sendAll(sender: Sender): Promise<string[]> {
  const ids: string[] = [];
  for (const csv of [
    'day,page,visits\n2026-03-01,/,1\n2026-03-02,/,1\n',
    'day,page,visits\n2026-03-02,/,2\n2026-03-02,/b,2\n2026-03-03,/,2\n',
    'day,page,visits\n2026-03-03,/,3\n',
  ]) {
    const answer = await sender.document(csv);
    await sender.settled(answer);
    ids.push(accepted(answer).artifact_id);
  }
  return ids;
}

const before = ['2026-03-03 / 3', '2026-03-02 / 2', '2026-03-02 /b 2', '2026-03-01 / 1'];
/** The second one reads nothing any more: the first one's is back. */
const after = ['2026-03-03 / 3', '2026-03-02 / 1', '2026-03-01 / 1'];

async function shown(sender: Sender): Promise<string[]> {
  const { samples } = await sender.samples(from);
  return samples.map((one) => `${one.period_start} ${one.labels.page} ${one.value}`);
}

/** Version 2 lacks a field that the documents have: under it they are rejected as a whole. */
async function saveOther({ catalog, document }: FaultPlace): Promise<void> {
  const fields = [
    { name: 'date', role: 'period' },
    { name: 'page', role: 'label' },
    { name: 'visits', role: 'value', metric: 'visits' },
  ] as const;
  await catalog.directory.saveSource(document.sourceId, { fields, savedBy: 'test' }, Date.now());
}

async function untilDone(place: FaultPlace): Promise<void> {
  const end = Date.now() + 60_000;
  while ((await place.catalog.queue.backlog()).deliveries > 0) {
    expect(Date.now(), 'it is parsed again').toBeLessThan(end);
    await sleep(50);
  }
}

async function ready(place: FaultPlace): Promise<{ weir: RunningWeir; sender: Sender }> {
  const weir = place.weir();
  await weir.start();
  return { weir, sender: new Sender(weir.url, place.document.accessKey) };
}

/** What is readable right after the restart: the dead process's lease has not run out then. */
const cases: readonly { point: CrashPoint; shown: readonly string[] }[] = [
  { point: 'generation_inserted', shown: before },
  { point: 'settled', shown: after },
  { point: 'completed', shown: after },
];

describe.concurrent('a service that dies while a delivery is parsed again', () => {
  test.each(cases)('at $point', { timeout: 240_000 }, async (given) => {
    const place = await makePlace();
    try {
      const { weir, sender } = await ready(place);
      const [, second] = await sendAll(sender);
      expect(await shown(sender)).toEqual(before);
      await weir.end();
      await saveOther(place);
      const artifactIds = [second!];
      await place.catalog.reparses.begin({ artifactIds, shapeVersion: 2 }, Date.now());
      const dying = place.weir({ WEIR_CRASH_AT: given.point });
      // It dies before it is ready, or soon after.
      dying.start().catch(() => null);
      expect(await dying.died()).toEqual({ code: null, signal: 'SIGKILL' });

      const again = await ready(place);
      expect(await shown(again.sender)).toEqual(given.shown);
      await untilDone(place);
      expect(await shown(again.sender)).toEqual(after);
      expect(await place.catalog.deliveries.byArtifact(second!)).toMatchObject({
        ...{ status: 'rejected', shapeVersion: 2 },
        refusal: { code: 'header_field_missing', field: 'date' },
      });
    } finally {
      await place.remove();
    }
  });
});

describe('without a service', () => {
  test('weir reparse parses by itself', { timeout: 120_000 }, async () => {
    const place = await makePlace();
    try {
      const { weir, sender } = await ready(place);
      const [, second] = await sendAll(sender);
      await weir.end();
      await saveOther(place);
      const args = ['reparse', second!, '--shape-version', '2', '--json'];
      const dry = await weirCommand(weir.env(), ...args, '--dry-run');
      expect(dry).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(dry.stdout)).toMatchObject({
        refusal: 'header_field_missing',
        records: { changed: 0, failing: 3, appearing: 0 },
        samples: { vanishing: 3 },
      });
      const ran = await weirCommand(weir.env(), ...args);
      expect(ran).toMatchObject({ code: 0, stderr: '' });
      expect(JSON.parse(ran.stdout)).toMatchObject({
        before: { status: 'parsed', counts: { samples: 3 } },
        after: { status: 'rejected', counts: { samples: 0 }, refusal: 'header_field_missing' },
      });
      expect(await shown((await ready(place)).sender)).toEqual(after);
    } finally {
      await place.remove();
    }
  });

  test('a command that dies leaves its work to the next service', {
    timeout: 120_000,
  }, async () => {
    const place = await makePlace();
    try {
      const { weir, sender } = await ready(place);
      const [, second] = await sendAll(sender);
      await weir.end();
      await saveOther(place);
      const env = { ...weir.env(), WEIR_CRASH_AT: 'generation_inserted' };
      const ran = await weirCommand(env, 'reparse', second!, '--shape-version', '2', '--json');
      expect(ran).toMatchObject({ stdout: '' });
      expect(ran.code).not.toBe(0);
      const again = await ready(place);
      expect(await shown(again.sender)).toEqual(before);
      await untilDone(place);
      expect(await shown(again.sender)).toEqual(after);
    } finally {
      await place.remove();
    }
  });
});
