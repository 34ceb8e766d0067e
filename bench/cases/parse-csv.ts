import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { limits } from '../../src/domain/limits.ts';
import { ask } from '../../test/support/ask.ts';
import { type BenchCase, bySize, type Variant } from '../case.ts';
import { documentBytes } from '../load/document.ts';
import { templateOf } from '../load/documents.ts';
import { HttpConnection } from '../load/http-connection.ts';
import { takeNumbers } from '../load/loader.ts';
import { deliveryKey } from '../load/push.ts';
import { BenchEngine } from '../world/engine.ts';
import { type BenchWeir, sharedWeir } from '../world/weir.ts';
import type { World } from '../world/world.ts';

/** A document from its first byte to readable samples, against the engine's insert alone. */
export const parseCsv: BenchCase = {
  name: 'parse-csv',
  title: 'an 8 MiB CSV from sending to readable, against inserting its rows from a ready CSV',
  unit: 'ms',
  group: 'alone',
  variants: (size) => [
    { ...variant('into the same tables', 'sample_inbox'), judged: true },
    ...(size === 'full' ? [{ ...variant('into one table', 'one_table'), judged: false }] : []),
  ],
};

function variant(name: string, table: string): Omit<Variant, 'judged'> {
  return {
    name,
    goal: { value: 2, bound: 'at most', of: 'ratio' },
    async prepare(world) {
      const weir = await sharedWeir(world, 'parsing');
      const engine = new BenchEngine(weir);
      await engine.command('CREATE TABLE IF NOT EXISTS one_table AS samples');
      const body = () => documentOf(world);
      return {
        // The check has delivered and inserted once before.
        rounds: bySize(world.size, { full: 5, quick: 2, tiny: 1 }),
        async check() {
          const ours = await deliver(weir, engine, body());
          const theirs = randomUUID();
          await insert(engine, 'sample_inbox', readyCsv(body(), theirs));
          await requireSameSamples(engine, ours.sourceId, theirs);
        },
        ours: async () => (await deliver(weir, engine, body())).ms,
        theirs: () => insert(engine, table, readyCsv(body(), randomUUID())),
        close: () => engine.close(),
      };
    },
  };
}

function documentOf(world: World): Buffer {
  const bytesMax = world.size === 'tiny' ? 64 * 1_024 : limits.deliveryBytesMax;
  return documentBytes(templateOf(bytesMax), takeNumbers(1));
}

/** Sends a document to a source of its own and waits until its samples are readable. */
async function deliver(weir: BenchWeir, engine: BenchEngine, body: Buffer) {
  const { sourceId, key } = await weir.source('document');
  await engine.untilMerged();
  const started = performance.now();
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/octet-stream',
    'Idempotency-Key': deliveryKey(takeNumbers(1)),
  };
  const url = `${weir.test.url}/v1/ingest`;
  const taken = await ask(url, { method: 'POST', headers, body });
  if (taken.status !== 202) throw new Error(`${taken.status} ${taken.text}`);
  const { artifact_id: id } = JSON.parse(taken.text) as { artifact_id: string };
  for (;;) {
    const answer = await ask(`${weir.test.url}/v1/deliveries/${id}`, { headers });
    const { status } = JSON.parse(answer.text) as { status: string };
    if (status === 'parsed') return { sourceId, ms: performance.now() - started };
    if (status === 'rejected') throw new Error(`the document was rejected: ${answer.text}`);
    await sleep(5);
  }
}

/** Inserts rows in one request. @returns milliseconds */
async function insert(engine: BenchEngine, table: string, csv: Buffer): Promise<number> {
  await engine.untilMerged();
  const connection = await HttpConnection.open(engine.at);
  try {
    const query = `INSERT INTO ${table} (${columns}) FORMAT CSV`;
    const head = engine.insertHead(query, csv.length);
    const started = performance.now();
    const answer = await connection.exchange([head, csv]);
    if (answer.status !== 200) throw new Error(`${answer.head}\n${answer.body}`);
    return performance.now() - started;
  } finally {
    connection.close();
  }
}

const columns =
  'source_id, newest_first, metric, labels_json, sandbox, value, artifact_id, sequence, ' +
  'generation, record';
const artifactId = '01900000-0000-7000-8000-000000000002';

/** The rows that weir makes of a document, as a CSV that the engine takes as it is. */
function readyCsv(document: Buffer, sourceId: string): Buffer {
  const lines = document.toString().trimEnd().split('\n').slice(1);
  const rows = lines.flatMap((line, i) => {
    const [day, device, place, visits, revenue] = line.split(',');
    const labels = `"{""device"":""${device}"",""place"":""${place}""}"`;
    const newestFirst = -Date.parse(`${day}T00:00:00Z`) / 86_400_000;
    const row = (metric: string, value: string) =>
      `${sourceId},${newestFirst},${metric},${labels},0,${value},${artifactId},1,0,${i + 1}\n`;
    return [row('visits', visits!), row('revenue', revenue!)];
  });
  return Buffer.from(rows.join(''));
}

/** @throws Error when the two sources differ in more than what numbers their documents */
async function requireSameSamples(engine: BenchEngine, ours: string, theirs: string) {
  const [found] = await engine.rows<{ ours: string; theirs: string; values: string }>(`
    SELECT uniqExactIf(tuple(newest_first, metric, labels_json), source_id = '${ours}') AS ours,
      uniqExactIf(tuple(newest_first, metric, labels_json), source_id = '${theirs}') AS theirs,
      uniqExact(tuple(newest_first, metric, labels_json, value)) AS values
    FROM samples FINAL WHERE source_id IN ('${ours}', '${theirs}')`);
  const [a, b, values] = [found!.ours, found!.theirs, found!.values].map(Number);
  // The one cell that holds the document's number differs.
  if (a !== b || values !== a! + 1) throw new Error(`${JSON.stringify(found)}: not the same rows`);
}
