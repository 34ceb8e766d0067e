import { constants } from 'node:buffer';
import { type Cell, notText } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { DeliveryRows } from './delivery-rows.ts';
import { type PreparedJson, prepareJson } from './json-text.ts';

/**
 * Reads a JSON body: an object, or an array of objects, each one record (specification,
 * POST /v1/webhooks). The last of two equal names in an object wins.
 *
 * @param json well-formed UTF-8 without byte order mark
 * @returns why the body cannot be read to its end; null when it was
 */
export function readJson(json: Uint8Array, rows: DeliveryRows): DeliveryProblem | null {
  const read = parseWhole(prepareJson(json, true));
  if ('code' in read) return read;
  if (isObject(read.value)) {
    recordTaker(rows)(read.value, null);
    return null;
  }
  if (!Array.isArray(read.value)) return { code: 'json_not_records' };
  const take = recordTaker(rows);
  for (const element of read.value) take(element, null);
  return null;
}

/**
 * Reads a JSON push: an envelope whose payload is one record (specification, "Delivery").
 * Its values are text; a number there is no value, unlike in the other JSON bodies.
 */
export function readPushBody(json: Uint8Array, rows: DeliveryRows): DeliveryProblem | null {
  const read = parseWhole(prepareJson(json, false));
  if ('code' in read) return read;
  const payload = isObject(read.value) ? read.value.payload : undefined;
  if (!isObject(payload)) return { code: 'push_invalid' };
  recordTaker(rows)(payload, null);
  return null;
}

/**
 * Reads newline-delimited JSON: one object a line, lines ending with LF or CRLF. Lines of white
 * space only are passed over; a line that is no JSON makes the whole body unreadable.
 */
export function readNdjson(json: Uint8Array, rows: DeliveryRows): DeliveryProblem | null {
  const prepared = prepareJson(json, true);
  if (prepared.bytes.length > constants.MAX_STRING_LENGTH) return { code: 'unpacked_too_large' };
  const text = textOf(prepared.bytes);
  const take = recordTaker(rows);
  let line = 1;
  for (let at = 0; at < text.length; line++) {
    const found = text.indexOf('\n', at);
    const end = found < 0 ? text.length : found;
    const one = text.slice(at, end);
    at = end + 1;
    if (blankLine.test(one)) continue;
    const read = parse(one);
    if ('code' in read) return { ...read, line };
    take(read.value, line);
  }
  if (prepared.loneSurrogateAt < 0) return null;
  return { code: 'lone_surrogate', line: lineAt(json, prepared.loneSurrogateAt) };
}

const blankLine = /^[ \t\r]*$/;

type Read = { readonly value: unknown } | DeliveryProblem;

function parseWhole({ bytes, loneSurrogateAt }: PreparedJson): Read {
  // Quotes around every number can double an unpacked body.
  if (bytes.length > constants.MAX_STRING_LENGTH) return { code: 'unpacked_too_large' };
  const read = parse(textOf(bytes));
  if ('code' in read || loneSurrogateAt < 0) return read;
  return { code: 'lone_surrogate' };
}

function parse(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return { code: 'invalid_json' };
    throw error;
  }
}

/** @returns a function that gives one element of the body to the rows, as a record */
function recordTaker(rows: DeliveryRows) {
  const { positions, fields } = rows.plan;
  const cells: Cell[] = fields.map(() => undefined);
  return (element: unknown, line: number | null): void => {
    if (!isObject(element)) {
      rows.brokenRecord({ field: null, code: 'record_not_object' }, line);
      return;
    }
    cells.fill(undefined);
    // Own names only, so that a field named __proto__ is a field like any other.
    for (const name of Object.keys(element)) {
      const position = positions.get(name);
      if (position === undefined) rows.undeclared(name);
      else cells[position] = cellOf(element[name]);
    }
    rows.record(cells, line);
  };
}

function cellOf(value: unknown): Cell {
  return typeof value === 'string' || value === null ? value : notText;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

function lineAt(json: Uint8Array, position: number): number {
  let line = 1;
  for (let at = json.indexOf(0x0a); at >= 0 && at < position; at = json.indexOf(0x0a, at + 1)) {
    line++;
  }
  return line;
}
