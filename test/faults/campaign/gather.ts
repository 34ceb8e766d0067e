import { connect } from '../../../src/samples/client.ts';
import { openEngineAddress } from '../../../src/samples/engine/supervisor.ts';
import { accountingDifference } from '../../support/metrics-of.ts';
import { dayText } from '../sender.ts';
import { type LoadLog, readLog } from './attempts.ts';
import { readCatalog } from './catalog-seen.ts';
import type { CatalogDelivery, Evidence, ShownSample } from './evidence.ts';
import { get, type OpenScope } from './post.ts';
import { openStoreSeen, orphansOf, storedHashes } from './store-seen.ts';
import type { World } from './world.ts';

export interface RunFacts {
  readonly seed: number;
  readonly logFile: string;
  readonly drainedSeconds: number | null;
  readonly selfEnds: readonly string[];
  readonly faulted: boolean;
}

/**
 * Reads what a run left, past the service's own code where that could hide a defect: the catalog
 * by SQL, objects from the disk or by the store's own client, rows by SQL, samples by HTTP.
 */
export async function gather(world: World, facts: RunFacts): Promise<Evidence> {
  const { logFile, ...known } = facts;
  const log = await readLog(logFile);
  const catalog = await readCatalog(world.catalog);
  const store = openStoreSeen(world);
  const places = catalog.deliveries.map((one) => ({ ...one.place, artifactId: one.artifactId }));
  const derived = await readEngine(world);
  return {
    ...{ ...known, log, scopes: world.scopes, ...catalog, ...derived },
    stored: await storedHashes(store, places),
    orphans: await orphansOf(store, new Set(places.map((place) => place.object))),
    samples: await readSamples(world),
    foreign: await askForeign(world, catalog.deliveries, log),
    accountingDifference: await accountingDifference(world.weir),
  };
}

const rowsQuery = `
  SELECT sequence, generation, record, metric, period_start, labels_json, value, artifact_id,
    sandbox
  FROM sample_versions FINAL WHERE source_id = {source:UUID} ORDER BY sequence, record, metric`;

async function readEngine(world: World): Promise<Pick<Evidence, 'rows' | 'rejections'>> {
  const address = openEngineAddress(world.engineDir);
  const client = connect(address, address.database);
  const lines = async (query: string, query_params: Record<string, string> = {}) => {
    const answer = await client.query({ query, query_params, format: 'TabSeparatedRaw' });
    return (await answer.text()).split('\n').slice(0, -1);
  };
  try {
    const rows = new Map<string, string[]>();
    for (const { sourceId } of ownSources(world)) {
      rows.set(sourceId, await lines(rowsQuery, { source: sourceId }));
    }
    const count = 'SELECT artifact_id, count() FROM rejections FINAL GROUP BY artifact_id';
    const counted = (await lines(count)).map((line) => line.split('\t') as [string, string]);
    return { rows, rejections: new Map(counted.map(([id, n]) => [id, Number(n)])) };
  } finally {
    await client.close();
  }
}

/** One scope of each source. */
function ownSources(world: World): OpenScope[] {
  return world.scopes.filter((one) => !one.sandbox);
}

async function readSamples(world: World): Promise<Evidence['samples']> {
  const all = new Map<string, readonly ShownSample[]>();
  for (const scope of ownSources(world)) {
    const window = `from=${dayText(0)}&to=${dayText(730)}`;
    const answer = await get(world.weir.url, scope, `/v1/samples?${window}`);
    if (answer?.status !== 200) throw new Error(`samples of ${scope.name}: ${answer?.text}`);
    const read = JSON.parse(answer.text) as { truncated: boolean; samples: ShownSample[] };
    if (read.truncated) throw new Error('a window holds more samples than one answer');
    all.set(scope.sourceId, read.samples);
  }
  return all;
}

/** Deliveries of others that each scope asks for. */
const foreignAsked = 20;

async function askForeign(
  world: World,
  deliveries: readonly CatalogDelivery[],
  log: LoadLog,
): Promise<Evidence['foreign']> {
  const asked: { artifactId: string; scope: string; status: number }[] = [];
  for (const scope of world.scopes) {
    const others = deliveries.filter((one) => one.sourceId !== scope.sourceId);
    const step = Math.max(1, Math.floor(others.length / foreignAsked));
    for (let i = log.attempts.length % step; i < others.length; i += step) {
      const { artifactId } = others[i]!;
      const answer = await get(world.weir.url, scope, `/v1/deliveries/${artifactId}`);
      asked.push({ artifactId, scope: scope.name, status: answer?.status ?? 0 });
    }
  }
  return asked;
}
