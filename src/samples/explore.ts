import type { ClickHouseAddress } from './address.ts';
import { connect, reach } from './client.ts';
import type {
  FoundMetric,
  PageQuery,
  PlacedSample,
  SampleExplorer,
  SampleFilter,
  SampleSeries,
  SeriesPoint,
  SeriesQuery,
} from './explore-contract.ts';
import { heldLabels } from './held-labels.ts';

type Params = Record<string, unknown>;
type Ask = <T>(query: string, params: Params) => Promise<T[]>;

/** The app's reads of the sample store; its tables must be there (`SampleStore.prepare`). */
export function openExplorer(address: ClickHouseAddress): SampleExplorer {
  const client = connect(address, address.database);
  const ask: Ask = (query, query_params) =>
    reach(async () => {
      const answer = await client.query({ query, query_params, format: 'JSONEachRow' });
      return await answer.json();
    });
  return {
    metrics: (sourceId) => metricsOf(ask, sourceId),
    labelSets: (sourceId, metric, limit) => labelSetsOf(ask, sourceId, metric, limit),
    series: (query) => seriesOf(ask, query),
    page: (filter, page) => pageOf(ask, filter, page),
    close: () => client.close(),
  };
}

/** Somebody waits at a page: two threads, and no statement that runs for minutes. */
const settings = 'max_threads = 2, max_execution_time = 30, max_memory_usage = 1000000000';

/**
 * What there is to choose from is asked without FINAL, in a third of the time: until parts are
 * merged, a choice may be offered whose last sample is gone. What was withdrawn is no row any more.
 */
const ofChoices = `max_threads = 1, max_execution_time = 30,
  max_rows_to_group_by = 100000, group_by_overflow_mode = 'any'`;

function metricsOf(ask: Ask, sourceId: string): Promise<FoundMetric[]> {
  return ask(
    `SELECT metric, max(sandbox) AS hasSandbox,
       toInt32(-max(newest_first)) AS firstDay, toInt32(-min(newest_first)) AS lastDay
     FROM samples WHERE source_id = {source:UUID} AND is_deleted = 0
     GROUP BY metric ORDER BY metric SETTINGS ${ofChoices}`,
    { source: sourceId },
  );
}

async function labelSetsOf(
  ask: Ask,
  sourceId: string,
  metric: string,
  limit: number,
): Promise<string[]> {
  const found = await ask<{ labelsJson: string }>(
    `SELECT labels_json AS labelsJson FROM samples
     WHERE source_id = {source:UUID} AND metric = {metric:String} AND is_deleted = 0
     GROUP BY labels_json ORDER BY labels_json LIMIT {rows:UInt32} SETTINGS ${ofChoices}`,
    { source: sourceId, metric, rows: limit },
  );
  return found.map(({ labelsJson }) => labelsJson);
}

/**
 * What a filter says, in columns of the key only: all rows of one sample agree in these, so that
 * the store may judge them before it finds out which row counts (PREWHERE with FINAL), and reads
 * the other columns of few rows. 45 ms where WHERE took 137, for one label set of 100 and 500,000
 * samples in 6 parts.
 */
function keyed(filter: SampleFilter): { where: string; params: Params } {
  const { sourceId, metrics, fromDay, toDay, labels, sandbox } = filter;
  const wheres = ['source_id = {source:UUID}'];
  const params: Params = { source: sourceId };
  if (metrics) {
    wheres.push('metric IN {metrics:Array(String)}');
    params.metrics = metrics;
  }
  if (fromDay !== undefined) {
    wheres.push('newest_first <= {last:Int32}');
    params.last = -fromDay;
  }
  if (toDay !== undefined) {
    wheres.push('newest_first > {before:Int32}');
    params.before = -toDay;
  }
  if (!sandbox) wheres.push('NOT sandbox');
  const held = heldLabels(labels);
  wheres.push(...held.conditions);
  Object.assign(params, held.params);
  return { where: wheres.join(' AND '), params };
}

interface FoundSet {
  readonly hash: string;
  readonly firstDay: number;
  readonly lastDay: number;
  readonly total: number;
}

/**
 * First which label sets there are, then the points of the chosen ones. The first is asked without
 * FINAL, for it only chooses: a sample that was corrected may count twice there, and a label set
 * whose last sample is gone has no points then.
 */
async function seriesOf(ask: Ask, { filter, seriesMax, pointsMax }: SeriesQuery) {
  const { where, params } = keyed(filter);
  const sets = await ask<FoundSet>(
    `SELECT toString(cityHash64(labels_json, sandbox)) AS hash,
       toInt32(-max(newest_first)) AS firstDay, toInt32(-min(newest_first)) AS lastDay,
       toUInt32(count() OVER ()) AS total
     FROM samples PREWHERE ${where} WHERE is_deleted = 0
     GROUP BY labels_json, sandbox ORDER BY count() DESC, labels_json, sandbox
     LIMIT {sets:UInt32}
     SETTINGS ${settings}, max_rows_to_group_by = 100000, group_by_overflow_mode = 'any'`,
    { ...params, sets: seriesMax },
  );
  if (sets.length === 0) return { bucketDays: 1, series: [], total: 0 };
  const firstDay = Math.min(...sets.map((set) => set.firstDay));
  const lastDay = Math.max(...sets.map((set) => set.lastDay));
  const bucketDays = Math.ceil((lastDay - firstDay + 1) / pointsMax);
  const hashes = sets.map(({ hash }) => `toUInt64('${hash}')`).join(', ');
  const found = await ask<FoundSeries>(
    `SELECT labels_json AS labelsJson, sandbox,
       arraySort(groupArray((first_day, last_day, low, high, last, samples))) AS points
     FROM (
       SELECT labels_json, sandbox, intDiv(day - {first:Int32}, {bucket:Int32}) AS bucket,
         min(day) AS first_day, max(day) AS last_day, min(number) AS low, max(number) AS high,
         argMax(number, day) AS last, toUInt32(count()) AS samples
       FROM (
         SELECT labels_json, sandbox, toInt32(-newest_first) AS day, toFloat64(value) AS number
         FROM samples FINAL
         PREWHERE ${where} AND cityHash64(labels_json, sandbox) IN (${hashes})
       )
       GROUP BY labels_json, sandbox, bucket
     )
     GROUP BY labels_json, sandbox ORDER BY labels_json, sandbox SETTINGS ${settings}`,
    { ...params, first: firstDay, bucket: bucketDays },
  );
  return { bucketDays, series: found.map(seriesFound), total: sets[0]!.total };
}

interface FoundSeries extends Pick<SampleSeries, 'labelsJson' | 'sandbox'> {
  readonly points: readonly [number, number, number, number, number, number][];
}

function seriesFound({ labelsJson, sandbox, points }: FoundSeries): SampleSeries {
  return {
    ...{ labelsJson, sandbox },
    points: points.map(
      ([firstDay, lastDay, min, max, last, samples]): SeriesPoint => ({
        ...{ firstDay, lastDay, min, max, last, samples },
      }),
    ),
  };
}

/** As the window read has it (`window.ts`): FINAL with a LIMIT stops early by these settings. */
async function pageOf(ask: Ask, filter: SampleFilter, page: PageQuery): Promise<PlacedSample[]> {
  const { after, limit } = page;
  const { where, params } = keyed(filter);
  const place = 'newest_first, metric, labels_json, sandbox';
  const beyond = `AND newest_first >= {day:Int32}
    AND (${place}) > ({day:Int32}, {metric:String}, {labels:String}, {sandbox:Bool})`;
  return await ask<PlacedSample>(
    `SELECT toInt32(-newest_first) AS day, metric, labels_json AS labelsJson, sandbox, value,
       toString(artifact_id) AS artifactId
     FROM samples FINAL PREWHERE ${where} ${after ? beyond : ''}
     ORDER BY ${place} LIMIT {rows:UInt32}
     SETTINGS max_threads = 1, max_block_size = 512, max_execution_time = 30,
       split_intersecting_parts_ranges_into_layers_final = 0,
       split_parts_ranges_into_intersecting_and_non_intersecting_final = 0`,
    {
      ...{ ...params, rows: limit },
      ...(after && { day: -after.day, metric: after.metric, labels: after.labelsJson }),
      ...(after && { sandbox: after.sandbox }),
    },
  );
}
