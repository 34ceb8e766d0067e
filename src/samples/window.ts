import type { TextAround, WindowAnswer, WindowQuery } from './samples.ts';

/**
 * The statement of a window read. Each row is the text of one Sample object, made by ClickHouse;
 * no byte of it is parsed or encoded on the way out.
 *
 * Nothing in a row needs escaping: metric keys and values are of plain characters (DECISIONS 1
 * and 2), and labels_json is JSON already, on one line.
 *
 * The settings make FINAL with a LIMIT stop early, 6–15 ms where 80–100 were measured: parts are
 * merged as they are, on one thread, in blocks so small that little more is read of each part than
 * the answer takes of it.
 */
export function windowStatement(query: WindowQuery) {
  const { sourceId, fromDay, toDay, sandbox, limit } = query;
  const onlySandbox = sandbox === undefined ? '' : 'AND sandbox = {sandbox:Bool}';
  return {
    query: `
      SELECT concat(
        '{"metric":"', metric,
        '","period_start":"', toString(period_start),
        '","value":"', value,
        '","labels":', labels_json,
        ',"sandbox":', if(sandbox, 'true', 'false'),
        ',"artifact_id":"', toString(artifact_id), '"}'
      )
      FROM samples FINAL
      WHERE source_id = {source:UUID}
        AND newest_first > {after:Int32} AND newest_first <= {last:Int32} ${onlySandbox}
      ORDER BY newest_first, metric, labels_json, sandbox
      LIMIT {rows:UInt32}
      SETTINGS max_threads = 1, max_block_size = 512, max_execution_time = 30,
        split_intersecting_parts_ranges_into_layers_final = 0,
        split_parts_ranges_into_intersecting_and_non_intersecting_final = 0
      FORMAT TSVRaw`,
    query_params: {
      source: sourceId,
      after: -toDay,
      last: -fromDay,
      // One more than asked for tells whether the window holds more.
      rows: limit + 1,
      ...(sandbox === undefined ? {} : { sandbox }),
    },
  };
}

const newline = 0x0a;
const comma = 0x2c;
const opening = 0x5b;
const closing = 0x5d;

/**
 * Makes one JSON array of rows that each end with a newline, of the first `limit` of them.
 *
 * @param chunks are written to
 */
export function joinRows(
  chunks: readonly Uint8Array[],
  limit: number,
  { before, after }: TextAround = nothingAround,
): WindowAnswer {
  const { count, bytes, truncated } = cutAfter(chunks, limit);
  const [head, tail] = [Buffer.from(before), Buffer.from(after(truncated))];
  // The last row's comma is where the array closes.
  const arrayBytes = count === 0 ? 2 : 1 + bytes;
  const json = Buffer.allocUnsafeSlow(head.length + arrayBytes + tail.length);
  json.set(head);
  json[head.length] = opening;
  let end = head.length + 1;
  for (const chunk of chunks) {
    const rest = head.length + 1 + bytes - end;
    if (rest === 0) break;
    json.set(chunk.length > rest ? chunk.subarray(0, rest) : chunk, end);
    end += Math.min(chunk.length, rest);
  }
  json[head.length + arrayBytes - 1] = closing;
  json.set(tail, head.length + arrayBytes);
  return { json, count, truncated };
}

const nothingAround: TextAround = { before: '', after: () => '' };

/** Puts commas for newlines. @returns how many rows are taken, and their bytes with the commas */
function cutAfter(chunks: readonly Uint8Array[], limit: number) {
  let [count, bytes, passed] = [0, 0, 0];
  for (const chunk of chunks) {
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, at + 1)) {
      if (count === limit) return { count, bytes, truncated: true };
      chunk[at] = comma;
      count += 1;
      bytes = passed + at + 1;
    }
    passed += chunk.length;
  }
  return { count, bytes, truncated: false };
}
