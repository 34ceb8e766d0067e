import { isDeepStrictEqual } from 'node:util';
import type { BenchCase, Variant } from '../case.ts';
import {
  correctingParts,
  insertCorrections,
  insertHistory,
  newestSamples,
} from '../world/history.ts';
import {
  freshReads,
  freshWindows,
  latency,
  type ReadPlace,
  type ReadSource,
  readCount,
  readPlace,
  requireRead,
  samplesPerAnswer,
  type WindowText,
} from './reads.ts';

/** A window read through weir, against the table that one would make first. */
export const readNaive: BenchCase = {
  name: 'read-naive',
  title: 'the same read, against a table keyed by ascending date and read with FINAL',
  unit: 'ms',
  group: 'reads',
  variants: (size) => [
    { ...variant('four corrections not merged yet', 'corrected'), judged: true },
    ...(size === 'quick' ? [] : [{ ...variant('merged into one part', 'usual'), judged: false }]),
  ],
};

function variant(name: string, which: 'corrected' | 'usual'): Omit<Variant, 'judged'> {
  return {
    name,
    goal: { value: 0.2, bound: 'at most', of: 'ratio' },
    async prepare(world) {
      const place = await readPlace(world);
      const { weir, engine, loader } = place;
      const source = place[which];
      await makeNaive(place, source);
      return {
        async check() {
          await requireRead(weir, source);
          await requireNaiveRows(place, source);
        },
        ours: () => freshReads(world, place, source),
        theirs: () => {
          const windows = freshWindows(Math.ceil(readCount(world) / 3));
          const requests = windows.map((window) => engine.request(naiveSql(source, window), {}));
          return latency(loader, engine.at, requests);
        },
        close: () => engine.command('DROP TABLE naive SYNC'),
      };
    },
  };
}

/** The same columns, rows and parts; the period as a date, and the key as it reads. */
async function makeNaive({ engine }: ReadPlace, source: ReadSource): Promise<void> {
  await engine.command(`
    CREATE TABLE naive (
      source_id UUID, period_start Date32, metric String, labels_json String, sandbox Bool,
      value String, artifact_id UUID, sequence UInt64, generation UInt32, record UInt32,
      version UInt64 DEFAULT sequence)
    ENGINE = ReplacingMergeTree(version)
    ORDER BY (source_id, period_start, metric, labels_json, sandbox)`);
  await engine.command('CREATE TABLE naive_inbox AS sample_inbox');
  await engine.command(`
    CREATE MATERIALIZED VIEW naive_fill TO naive AS
    SELECT source_id, toDate32(-newest_first) AS period_start, metric, labels_json, sandbox, value,
      artifact_id, sequence, generation, record
    FROM naive_inbox`);
  await insertHistory(engine, 'naive_inbox', source);
  await engine.command('OPTIMIZE TABLE naive FINAL');
  await engine.command('SYSTEM STOP MERGES naive');
  for (let part = 0; source.corrected && part < correctingParts; part++) {
    await insertCorrections(engine, 'naive_inbox', source, part);
  }
  await engine.command('DROP VIEW naive_fill SYNC');
  await engine.command('DROP TABLE naive_inbox SYNC');
}

function naiveSql({ sourceId }: ReadSource, { from, to }: WindowText): string {
  return `
    SELECT concat('{"metric":"', metric, '","period_start":"', toString(period_start),
      '","value":"', value, '","labels":', labels_json, ',"sandbox":',
      if(sandbox, 'true', 'false'), ',"artifact_id":"', toString(artifact_id), '"}')
    FROM naive FINAL
    WHERE source_id = '${sourceId}' AND period_start >= '${from}' AND period_start < '${to}'
    ORDER BY period_start DESC, metric, labels_json, sandbox
    LIMIT ${samplesPerAnswer + 1} FORMAT TSVRaw`;
}

async function requireNaiveRows({ engine }: ReadPlace, source: ReadSource): Promise<void> {
  const answer = await engine.client.exec({ query: naiveSql(source, freshWindows(1)[0]!) });
  const text = Buffer.concat((await answer.stream.toArray()) as Buffer[]).toString();
  const rows = text.trimEnd().split('\n').slice(0, samplesPerAnswer);
  const expected = newestSamples(source, samplesPerAnswer);
  const found: unknown[] = rows.map((row) => JSON.parse(row));
  if (!isDeepStrictEqual(found, expected)) throw new Error('the naive table answers other samples');
}
