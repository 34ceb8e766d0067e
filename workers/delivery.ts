import { limits } from '../src/domain/limits.ts';
import type { DocumentFormat } from '../src/domain/nouns.ts';
import { exposedField } from '../src/domain/personal.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { ParsedDelivery, ParseInput } from '../src/parse/messages.ts';
import { assert } from '../src/std/assert.ts';
import { deliveryRows, type HandOn } from './delivery-rows.ts';
import { CsvReader } from './read-csv.ts';
import { JsonReader, PushReader } from './read-json.ts';
import { NdjsonReader } from './read-ndjson.ts';
import { readParquet } from './read-parquet.ts';
import { readXlsx } from './read-xlsx.ts';
import type { PieceReader, RecordSink } from './record-sink.ts';
import { pieceBytes, unpack } from './unpack.ts';

const { rowBytesMax, rowBytesHeldMax, rowBytesHeldOfPackedMax } = limits;

/**
 * Parses one delivery: the bytes as received, to rows or a refusal. Nothing that a body may hold
 * makes it throw.
 *
 * Ordering: rows are given only when the last byte of the body has been judged (DECISIONS 2). Rows
 * that come to no more than `rowBytesHeldMax` are held until then. Of a delivery with more, none
 * is held: it is judged and counted, then read again, and its rows are handed on as they come.
 *
 * @param handOn takes rows of the second reading; without it, all rows are held
 */
export async function parseDelivery(
  input: ParseInput,
  received: Buffer,
  handOn: HandOn | null = null,
): Promise<ParsedDelivery> {
  const held = input.encoding === 'identity' ? rowBytesHeldMax : rowBytesHeldOfPackedMax;
  const heldMax = handOn === null ? rowBytesMax : held;
  const { judged, made, letGo } = await judge(input, received, heldMax);
  if (!letGo || judged.refusal !== null || handOn === null) return judged;

  const second = deliveryRows(input, { heldMax: rowBytesMax, bytesMax: rowBytesMax }, handOn);
  const problem = await readBody(input, received, second, pieceBytes);
  assert(problem === null, 'what was read once can be read again');
  const { sampleRows, sampleRowCount, rejectionRows, rejectionRowCount } = second.finish(null);
  assert(second.made.samples === made.samples, 'samples are the same when read again');
  assert(second.made.rejections === made.rejections, 'so are rejections');
  return { ...judged, sampleRows, sampleRowCount, rejectionRows, rejectionRowCount };
}

/** The first reading; what it had to remember is free for the second. */
async function judge(input: ParseInput, received: Buffer, heldMax: number) {
  const rows = deliveryRows(input, { heldMax, bytesMax: rowBytesMax });
  const field = exposedField(input.fields, input.personalNow);
  const problem: DeliveryProblem | null =
    field === null
      ? await readBody(input, received, rows, received.length)
      : { code: 'personal_field', field };
  const judged = rows.finish(problem);
  return { judged, made: rows.made, letGo: rows.letGo };
}

/** What is needed to read a body. */
export type BodyAbout = Pick<ParseInput, 'delivery' | 'format' | 'mediaType' | 'encoding'>;

/**
 * Reads the records of a body as received into `sink`.
 *
 * @param plainBytes how much of a body without content encoding is read between two pauses
 * @returns why it cannot be read to its end, as far as was seen; null when it was
 */
export async function readBody(
  about: BodyAbout,
  received: Buffer,
  sink: RecordSink,
  plainBytes: number,
): Promise<DeliveryProblem | null> {
  const format = formatOf(about);
  if (format === 'xlsx' || format === 'parquet') {
    const whole = await unpackWhole(received, about);
    if ('code' in whole) return whole;
    return format === 'xlsx' ? readXlsx(whole, sink) : readParquet(whole, sink);
  }
  const reader = readerOf(format, sink);
  const take = async (piece: Buffer) => {
    const problem = reader.push(piece) ?? sink.problem;
    if (problem === null) await sink.pause();
    return problem;
  };
  const problem = await unpack(received, about.encoding, take, plainBytes);
  return problem ?? reader.end() ?? sink.problem;
}

type BodyFormat = DocumentFormat | 'push';
type TextFormat = Exclude<BodyFormat, 'xlsx' | 'parquet'>;

/** Of a webhook the media type decides (specification), of a document what the shape says. */
export function formatOf({ delivery, format, mediaType }: BodyAbout): BodyFormat {
  if (delivery === 'push') return 'push';
  if (delivery === 'document') return format;
  return mediaType.split(';', 1)[0]!.trim().toLowerCase() === 'text/csv' ? 'csv' : 'json';
}

function readerOf(format: TextFormat, sink: RecordSink): PieceReader {
  switch (format) {
    case 'csv':
      return new CsvReader(',', sink);
    case 'tsv':
      return new CsvReader('\t', sink);
    case 'json':
      return new JsonReader(sink);
    case 'ndjson':
      return new NdjsonReader(sink);
    case 'push':
      return new PushReader(sink);
  }
}

/** The unpacked body in one piece. It is unpacked twice, so that it never lies in memory twice. */
async function unpackWhole(
  received: Buffer,
  { encoding }: BodyAbout,
): Promise<Buffer | DeliveryProblem> {
  if (encoding === 'identity') return received;
  let bytes = 0;
  const problem = await unpack(received, encoding, async (piece) => {
    bytes += piece.length;
    return bytes > limits.containerBytesMax ? { code: 'container_too_large' } : null;
  });
  if (problem !== null) return problem;
  const whole = Buffer.alloc(bytes);
  let at = 0;
  await unpack(received, encoding, async (piece) => {
    at += piece.copy(whole, at);
    return null;
  });
  return whole;
}
