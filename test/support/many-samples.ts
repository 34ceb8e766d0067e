import { connect } from '../../src/samples/client.ts';
import { readAddress } from '../../src/samples/engine/files.ts';

/**
 * Makes samples of a source within the engine that a service runs on a data directory: so many
 * lines (label sets of `device`) of one metric, one sample a day each, up to `lastDay`.
 */
export async function writeManySamples(
  dataDir: string,
  spec: { sourceId: string; metric: string; lines: number; days: number; lastDay: number },
): Promise<void> {
  const { sourceId, metric, lines, days, lastDay } = spec;
  const address = readAddress(dataDir)!;
  const client = connect(address, address.database);
  try {
    await client.command({
      query: `INSERT INTO samples
        (source_id, newest_first, metric, labels_json, sandbox, value, artifact_id, sequence,
          generation, record)
        SELECT toUUID({source:String}), toInt32(intDiv(number, {lines:UInt32}) - {last:Int32}),
          {metric:String},
          concat('{"device":"', leftPad(toString(number % {lines:UInt32}), 3, '0'), '"}'),
          false, concat(toString(number * 7919 % 1000000), '.25'),
          toUUID('01900000-0000-7000-8000-000000000001'), 1, 0, toUInt32(number + 1)
        FROM numbers({rows:UInt64})
        SETTINGS max_threads = 1, max_insert_threads = 1`,
      query_params: { source: sourceId, metric, lines, last: lastDay, rows: lines * days },
    });
  } finally {
    await client.close();
  }
}
