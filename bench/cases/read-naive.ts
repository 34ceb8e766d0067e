import { isDeepStrictEqual } from 'node:util';
import type { BenchCase } from '../case.ts';
import { newestSamples } from '../world/history.ts';
import {
  freshReads,
  freshWindows,
  latency,
  type ReadPlace,
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
  variants: () => [
    {
      name: 'p50',
      goal: { value: 0.2, bound: 'at most', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const place = await readPlace(world);
        const { engine, loader, usual } = place;
        await makeNaive(place);
        return {
          async check() {
            await requireRead(place.weir, usual);
            await requireNaiveRows(place);
          },
          ours: () => freshReads(world, place, usual),
          theirs: () => {
            const windows = freshWindows(Math.ceil(readCount(world) / 3));
            const requests = windows.map((window) => engine.request(naiveSql(place, window), {}));
            return latency(loader, engine.at, requests);
          },
          close: () => engine.command('DROP TABLE naive SYNC'),
        };
      },
    },
  ],
};

/** The same columns and rows; the same engine; the period as a date, and the key as it reads. */
async function makeNaive(place: ReadPlace): Promise<void> {
  const { engine } = place;
  await engine.command(`
    CREATE TABLE naive (
      source_id UUID, period_start Date32, metric String, labels_json String, sandbox Bool,
      value String, artifact_id UUID, sequence UInt64, generation UInt32, record UInt32,
      version UInt64 DEFAULT sequence)
    ENGINE = ReplacingMergeTree(version)
    ORDER BY (source_id, period_start, metric, labels_json, sandbox)`);
  await engine.command(`
    INSERT INTO naive (source_id, period_start, metric, labels_json, sandbox, value, artifact_id,
      sequence, generation, record)
    SELECT source_id, period_start, metric, labels_json, sandbox, value, artifact_id, sequence,
      generation, record FROM samples SETTINGS max_execution_time = 140`);
  await engine.command('OPTIMIZE TABLE naive FINAL');
}

function naiveSql({ usual }: ReadPlace, { from, to }: WindowText): string {
  return `
    SELECT concat('{"metric":"', metric, '","period_start":"', toString(period_start),
      '","value":"', value, '","labels":', labels_json, ',"sandbox":',
      if(sandbox, 'true', 'false'), ',"artifact_id":"', toString(artifact_id), '"}')
    FROM naive FINAL
    WHERE source_id = '${usual.sourceId}' AND period_start >= '${from}' AND period_start < '${to}'
    ORDER BY period_start DESC, metric, labels_json, sandbox
    LIMIT ${samplesPerAnswer + 1} FORMAT TSVRaw`;
}

async function requireNaiveRows(place: ReadPlace): Promise<void> {
  const answer = await place.engine.client.exec({
    query: naiveSql(place, freshWindows(1)[0]!),
  });
  const text = Buffer.concat((await answer.stream.toArray()) as Buffer[]).toString();
  const rows = text.trimEnd().split('\n').slice(0, samplesPerAnswer);
  const expected = newestSamples(place.usual, samplesPerAnswer);
  const found: unknown[] = rows.map((row) => JSON.parse(row));
  if (!isDeepStrictEqual(found, expected)) throw new Error('the naive table answers other samples');
}
