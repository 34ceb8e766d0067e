import { textToDay } from '../../src/domain/periods.ts';
import { windowStatement } from '../../src/samples/window.ts';
import type { BenchCase } from '../case.ts';
import { median } from '../statistics.ts';
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

/** A window read through weir, against its own statement sent straight to the engine. */
export const readWindow: BenchCase = {
  name: 'read-window',
  title: 'p50 of GET /v1/samples (5,000 of 219k samples), against the same SQL over HTTP',
  unit: 'ms',
  group: 'reads',
  variants: () => [
    {
      name: 'p50',
      goal: { value: 1.25, bound: 'at most', of: 'ratio' },
      judged: true,
      async prepare(world) {
        const place = await readPlace(world);
        const { engine, loader, usual } = place;
        const inEngine: number[] = [];
        return {
          async check() {
            await requireRead(place.weir, usual);
            await requireSameRows(place);
          },
          ours: () => freshReads(world, place, usual),
          async theirs() {
            const windows = freshWindows(readCount(world));
            const requests = windows.map((window) => sqlRequest(place, window));
            inEngine.push(await elapsedInEngine(place, windows[0]!));
            return latency(loader, engine.at, requests);
          },
          notes: () => [`the engine itself: ${median(inEngine).toFixed(1)} ms`],
          async close() {},
        };
      },
    },
  ],
};

function statementOf({ usual }: ReadPlace, { from, to }: WindowText) {
  const [fromDay, toDay] = [textToDay(from)!, textToDay(to)!];
  return windowStatement({ sourceId: usual.sourceId, fromDay, toDay, limit: samplesPerAnswer });
}

function sqlRequest(place: ReadPlace, window: WindowText): string {
  const { query, query_params: params } = statementOf(place, window);
  return place.engine.request(query, params);
}

/** What ClickHouse says that it took, without HTTP. @returns milliseconds */
async function elapsedInEngine(place: ReadPlace, window: WindowText): Promise<number> {
  const { query, query_params: params } = statementOf(place, window);
  const answer = await place.engine.client.exec({
    query: query.replace('FORMAT TSVRaw', 'FORMAT JSON'),
    query_params: params,
  });
  const text = Buffer.concat((await answer.stream.toArray()) as Buffer[]).toString();
  const { statistics } = JSON.parse(text) as { statistics: { elapsed: number } };
  return statistics.elapsed * 1_000;
}

/** @throws Error when the statement by itself gives other rows than the read that was checked */
async function requireSameRows(place: ReadPlace): Promise<void> {
  const { query, query_params: params } = statementOf(place, freshWindows(1)[0]!);
  const answer = await place.engine.client.exec({ query, query_params: params });
  const text = Buffer.concat((await answer.stream.toArray()) as Buffer[]).toString();
  const rows = text.trimEnd().split('\n');
  if (rows.length !== samplesPerAnswer + 1) throw new Error(`the SQL gives ${rows.length} rows`);
}
