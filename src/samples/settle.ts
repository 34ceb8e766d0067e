import type { Settlement } from './samples.ts';

const identity = 'newest_first, metric, labels_json, sandbox';

/**
 * The statement that makes the current rows of all samples that some deliveries ever gave.
 *
 * Of each such sample it finds, among the rows that are valid, the one of the greatest sequence
 * and record, and puts it into `samples`; where none is valid, a row that hides whatever is there.
 * A row is valid when its generation is the one that stands of its delivery: that of
 * `delivery_generations`, else 0.
 *
 * Ordering: a row made here has the version (reparsedUpTo, number, record). It outranks
 * - the rows of earlier turns, whose `reparsedUpTo` was no higher and whose number was lower;
 * - the first parses of deliveries up to `reparsedUpTo`, for their number is 0.
 * The first parse of any later delivery outranks it, and rightly: each of those is later than all
 * deliveries that were parsed again. (Had it been there, it would be the winner here: then this row
 * stays below it and changes nothing.)
 *
 * All rows come in one block, so that a delivery's samples change at once. Rows are read in the
 * order of the key, so memory does not grow with what is read, only with what is written. Which
 * samples are concerned is told by the key's beginning, for which there is an index, and by a
 * hash, so that few rows are grouped: 1.0 s where it was 11.5, for a delivery of 1,000 samples of
 * a source of 2 million. Samples that share a hash are settled needlessly, to what they are.
 */
export function settleStatement({ sourceId, number, reparsedUpTo, deliveries }: Settlement) {
  const concerned = `FROM sample_versions
    WHERE source_id = {source:UUID} AND sequence IN {sequences:Array(UInt64)}`;
  const generations = 'FROM delivery_generations WHERE source_id = {source:UUID}';
  return {
    query: `
      INSERT INTO samples (source_id, newest_first, metric, labels_json, sandbox, value,
        artifact_id, sequence, generation, record, is_deleted, version)
      SELECT {source:UUID}, newest_first, metric, labels_json, sandbox, winner.1, winner.2,
        winner.3, winner.4, winner.5, gone,
        bitOr(
          bitShiftLeft(toUInt128({up_to:UInt64}), 64),
          bitOr(bitShiftLeft(toUInt128({number:UInt32}), 32), toUInt128(winner.5))
        )
      FROM (
        SELECT newest_first, metric, labels_json, sandbox, countIf(valid) = 0 AS gone,
          argMaxIf(
            (value, artifact_id, sequence, generation, record), (sequence, record), valid
          ) AS winner
        FROM (
          SELECT newest_first, metric, labels_json, sandbox, value, artifact_id, sequence,
            generation, record,
            if(sequence IN (SELECT sequence ${generations}),
              (sequence, generation) IN (
                SELECT sequence, max(generation) ${generations} GROUP BY sequence
              ),
              generation = 0) AS valid
          FROM sample_versions
          WHERE source_id = {source:UUID}
            AND (newest_first, metric) IN (SELECT newest_first, metric ${concerned})
            AND cityHash64(${identity}) IN (SELECT cityHash64(${identity}) ${concerned})
        )
        GROUP BY ${identity}
      )
      SETTINGS optimize_aggregation_in_order = 1, max_execution_time = 140,
        min_insert_block_size_rows = 1000000000, min_insert_block_size_bytes = 0`,
    query_params: {
      source: sourceId,
      number,
      up_to: reparsedUpTo,
      sequences: deliveries.map((delivery) => delivery.sequence),
    },
  };
}
