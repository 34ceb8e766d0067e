import type { ClickHouseClient } from '@clickhouse/client';
import { askOn } from './compared-tables.ts';
import { heldLabels } from './held-labels.ts';
import type { FoundSample, HistoryQuery, SampleHistory, SampleVersion } from './proof.ts';

/** Reads single samples: the current one, and every value that it ever had. */
export function sampleHistory(client: ClickHouseClient): SampleHistory {
  const rows = askOn(client);

  return {
    async find(query, limit) {
      const { sourceId, metric, day, sandbox } = query;
      const { conditions, params } = heldLabels(query.labels);
      const found = await rows<Omit<FoundSample, keyof HistoryQuery>>(
        `SELECT labels_json AS labelsJson, value, toString(artifact_id) AS artifactId, record
         FROM samples FINAL
         WHERE source_id = {source:UUID} AND newest_first = {day:Int32} AND metric = {metric:String}
           AND ${['sandbox = {sandbox:Bool}', ...conditions].join(' AND ')}
         ORDER BY labels_json LIMIT {rows:UInt32}`,
        { ...params, source: sourceId, day: -day, metric, sandbox, rows: limit },
      );
      return found.map((row) => ({ ...row, sourceId, metric, day, sandbox }));
    },

    async versions({ sourceId, metric, day, labelsJson, sandbox }, limit) {
      const found = await rows<Omit<SampleVersion, 'sequence'> & { sequence: string }>(
        `SELECT value, toString(artifact_id) AS artifactId, record, toString(sequence) AS sequence,
           generation
         FROM sample_versions FINAL
         WHERE source_id = {source:UUID} AND newest_first = {day:Int32} AND metric = {metric:String}
           AND sandbox = {sandbox:Bool} AND labels_json = {labels:String}
         ORDER BY sample_versions.sequence DESC, generation DESC, record DESC LIMIT {rows:UInt32}`,
        { source: sourceId, day: -day, metric, sandbox, labels: labelsJson, rows: limit },
      );
      return found.map((row) => ({ ...row, sequence: Number(row.sequence) }));
    },
  };
}
