import { isUtf8 } from 'node:buffer';
import type { DocumentFormat } from '../src/domain/nouns.ts';
import { exposedField } from '../src/domain/personal.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { ParsedDelivery, ParseInput } from '../src/parse/messages.ts';
import { type DeliveryRows, deliveryRows } from './delivery-rows.ts';
import { readCsv } from './read-csv.ts';
import { readJson, readNdjson, readPushBody } from './read-json.ts';
import { unpack } from './unpack.ts';

/**
 * Parses one delivery: the bytes as received, to rows or a refusal. Nothing that a body may hold
 * makes it throw. Rows are gathered while the body is read and given only when its last byte has
 * been judged (DECISIONS 2).
 */
export function parseDelivery(input: ParseInput, received: Buffer): ParsedDelivery {
  const rows = deliveryRows(input);
  const field = exposedField(input.fields, input.personalNow);
  if (field !== null) return rows.finish({ code: 'personal_field', field });
  const unpacked = unpack(received, input.encoding);
  return rows.finish('code' in unpacked ? unpacked : readBody(input, unpacked.body, rows));
}

type BodyFormat = DocumentFormat | 'push';

/** Of a webhook the media type decides (specification), of a document what the shape says. */
function formatOf({ delivery, format, mediaType }: ParseInput): BodyFormat {
  if (delivery === 'push') return 'push';
  if (delivery === 'document') return format;
  return mediaType.split(';', 1)[0]!.trim().toLowerCase() === 'text/csv' ? 'csv' : 'json';
}

function readBody(input: ParseInput, body: Buffer, rows: DeliveryRows): DeliveryProblem | null {
  const format = formatOf(input);
  if (format === 'xlsx' || format === 'parquet') return { code: 'format_unsupported' };
  // As TextDecoder with `fatal` judges, but several times as fast.
  if (!isUtf8(body)) return { code: 'invalid_utf8' };
  const text = withoutByteOrderMark(body);
  switch (format) {
    case 'csv':
      return readCsv(text.toString(), ',', rows);
    case 'tsv':
      return readCsv(text.toString(), '\t', rows);
    case 'json':
      return readJson(text, rows);
    case 'ndjson':
      return readNdjson(text, rows);
    case 'push':
      return readPushBody(text, rows);
  }
}

/** One mark is taken off; a second one is text. */
function withoutByteOrderMark(body: Buffer): Buffer {
  const marked = body[0] === 0xef && body[1] === 0xbb && body[2] === 0xbf;
  return marked ? body.subarray(3) : body;
}
