import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import type { ClickHouseAddress } from '../../src/samples/address.ts';
import { connect } from '../../src/samples/client.ts';
import { layoutOf } from '../../src/samples/layout.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { canonical, encode, everyDay, type GivenDelivery, read } from '../samples/support.ts';
import { seedOf } from '../support/seed.ts';

/** A number in [0, below) out of a seeded sequence (mulberry32). */
function randomOf(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

interface ModelSample {
  readonly day: number;
  readonly metric: string;
  readonly labels: string;
  readonly sandbox: boolean;
  readonly value: string;
  /** Of its row: sequence, generation, record. */
  readonly version: readonly [number, number, number];
}

const deliveries = 400;
const sources = 3;

/**
 * Inserts random deliveries in random order, some of them twice, in inserts of random size, and
 * compares random windows with a model in memory: while parts lie unmerged, and after a merge.
 */
export async function compareWithModel(
  address: ClickHouseAddress,
  store: SampleStore,
): Promise<void> {
  const random = randomOf(seedOf('samples model'));
  const sourceIds = Array.from({ length: sources }, () => randomUUID());
  const given = Array.from({ length: deliveries }, (_, i) => delivery(random, sourceIds, i + 1));
  const sent = shuffled(random, [...given, ...given.filter(() => random(4) === 0)]);

  const client = connect(address, address.database);
  const { held, everywhere } = layoutOf(address);
  await client.command({ query: `SYSTEM STOP MERGES${everywhere} ${held('samples')}` });
  try {
    for (let at = 0; at < sent.length; ) {
      const size = 1 + random(30);
      const blocks = sent.slice(at, at + size).map(encode);
      await store.insert({ samples: blocks, rejections: [] });
      at += size;
    }
    const models = sourceIds.map((sourceId) => modelOf(given, sourceId));
    await compare(store, random, sourceIds, models);
    await client.command({ query: `SYSTEM START MERGES${everywhere} ${held('samples')}` });
    await client.command({ query: `OPTIMIZE TABLE ${held('samples')}${everywhere} FINAL` });
    await compare(store, random, sourceIds, models);
  } finally {
    await client.command({ query: `SYSTEM START MERGES${everywhere} ${held('samples')}` });
    await client.close();
  }
}

function delivery(
  random: (below: number) => number,
  sourceIds: readonly string[],
  sequence: number,
): GivenDelivery {
  const names = ['', 'a', 'B', 'ä', '"', '\\', '😀', '\uff61'];
  const samples = Array.from({ length: 1 + random(12) }, (_, i) => ({
    day: random(15) - 7,
    metric: `m${random(3)}`,
    labels: (random(3) === 0 ? {} : { k: names[random(names.length)]! }) as Record<string, string>,
    value: `${sequence}.${i}`,
    record: i + 1,
  }));
  return {
    sourceId: sourceIds[random(sourceIds.length)]!,
    ...{ sequence, sandbox: random(3) === 0, artifactId: randomUUID(), samples },
  };
}

function modelOf(given: readonly GivenDelivery[], sourceId: string): ModelSample[] {
  const live = new Map<string, ModelSample>();
  for (const one of given.filter((each) => each.sourceId === sourceId)) {
    for (const [i, sample] of one.samples.entries()) {
      const labels = canonical(sample.labels ?? {});
      const row: ModelSample = {
        ...{ day: sample.day, metric: sample.metric!, labels, value: sample.value },
        sandbox: one.sandbox ?? false,
        version: [one.sequence, 0, sample.record ?? i + 1],
      };
      const key = JSON.stringify([row.day, row.metric, labels, row.sandbox]);
      const other = live.get(key);
      if (other === undefined || later(row.version, other.version)) live.set(key, row);
    }
  }
  return [...live.values()].sort(inOrder);
}

function later(a: ModelSample['version'], b: ModelSample['version']): boolean {
  const at = a.findIndex((part, i) => part !== b[i]);
  return at !== -1 && a[at]! > b[at]!;
}

function inOrder(a: ModelSample, b: ModelSample): number {
  return (
    b.day - a.day ||
    Buffer.compare(Buffer.from(a.metric), Buffer.from(b.metric)) ||
    Buffer.compare(Buffer.from(a.labels), Buffer.from(b.labels)) ||
    Number(a.sandbox) - Number(b.sandbox)
  );
}

async function compare(
  store: SampleStore,
  random: (below: number) => number,
  sourceIds: readonly string[],
  models: readonly ModelSample[][],
): Promise<void> {
  for (let n = 0; n < 30; n++) {
    const which = n % sources;
    const fromDay = n < sources ? everyDay.fromDay : random(16) - 8;
    const toDay = n < sources ? everyDay.toDay : fromDay + 1 + random(10);
    const limit = n < sources ? 5_000 : 1 + random(60);
    const sandbox = random(3) === 0 ? random(2) === 0 : undefined;
    const inWindow = models[which]!.filter(
      (s) => s.day >= fromDay && s.day < toDay && (sandbox ?? s.sandbox) === s.sandbox,
    );
    const query = { sourceId: sourceIds[which]!, fromDay, toDay, limit };
    const found = await read(store, sandbox === undefined ? query : { ...query, sandbox });
    const shown = found.map((s) => [s.period_start, s.metric, s.labels, s.sandbox, s.value]);
    const expected = inWindow
      .slice(0, limit)
      .map((s) => [dateOf(s.day), s.metric, JSON.parse(s.labels), s.sandbox, s.value]);
    expect(shown).toEqual(expected);
    const answer = await store.window(sandbox === undefined ? query : { ...query, sandbox });
    expect(answer.truncated).toBe(inWindow.length > limit);
  }
}

const dateOf = (day: number) => new Date(day * 86_400_000).toISOString().slice(0, 10);

function shuffled<T>(random: (below: number) => number, items: readonly T[]): T[] {
  const all = [...items];
  for (let i = all.length - 1; i > 0; i--) {
    const j = random(i + 1);
    [all[i], all[j]] = [all[j]!, all[i]!];
  }
  return all;
}
