import { type Cell, notText } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { type ElementBatch, JsonElements } from './json-elements.ts';
import { type PreparedJson, prepareJson } from './json-text.ts';
import type { ByteRange, PieceReader, RecordSink } from './record-sink.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

/**
 * Reads a JSON body: an object, or an array of objects, each one record (specification,
 * POST /v1/webhooks). The last of two equal names in an object wins.
 */
export class JsonReader implements PieceReader {
  readonly #take: TakeElement;
  readonly #utf8 = new Utf8Pieces();
  readonly #elements = new JsonElements();
  #begun = 0;
  #offset = 0;
  #where: () => ByteRange = () => ({ offset: 0, length: 0 });

  constructor(sink: RecordSink) {
    this.#take = elementTaker(sink);
    sink.where = () => this.#where();
  }

  push(piece: Buffer): DeliveryProblem | null {
    return this.#read(piece, false);
  }

  end(): DeliveryProblem | null {
    const problem = this.#read(Buffer.alloc(0), true);
    const { whole } = this.#elements;
    return problem === null && whole !== null ? this.#one(whole) : problem;
  }

  #read(piece: Buffer, last: boolean): DeliveryProblem | null {
    const bytes = this.#utf8.take(piece, last);
    if (bytes === null) return { code: 'invalid_utf8' };
    // All offsets lie after the byte order mark, if there is one.
    if (this.#begun === 0) this.#offset = this.#utf8.offset;
    this.#begun += bytes.length;
    const elements = this.#elements;
    elements.add(bytes, last);
    for (let batch = elements.next(); batch !== null; batch = elements.next()) {
      const problem = this.#batch(batch);
      if (problem !== null) return problem;
    }
    return elements.problem;
  }

  #batch({ bytes, starts, ends }: ElementBatch): DeliveryProblem | null {
    const read = parsePrepared(prepareJson(bytes, true), (text) => `[${text}]`);
    if ('code' in read) return read;
    const values = read.value as unknown[];
    // An empty array has no element, although there is a stretch before its bracket.
    const none = values.length === 0 && starts.length === 1 && this.#elements.isOnly;
    if (values.length !== starts.length && !none) return { code: 'invalid_json' };
    const offset = this.#offset + this.#elements.batchOffset;
    for (const [i, value] of values.entries()) {
      this.#where = () => trimmed(bytes, offset, starts[i]!, ends[i]!);
      this.#take(value, null);
    }
    return null;
  }

  #one(whole: Buffer): DeliveryProblem | null {
    const read = parsePrepared(prepareJson(whole, true));
    if ('code' in read) return read;
    if (!isObject(read.value)) return { code: 'json_not_records' };
    const offset = this.#offset + this.#begun - whole.length;
    this.#where = () => trimmed(whole, offset, 0, whole.length);
    this.#take(read.value, null);
    return null;
  }
}

/**
 * Reads a JSON push: an envelope whose payload is one record (specification, "Delivery").
 * Its values are text; a number there is no value, unlike in the other JSON bodies.
 */
export class PushReader implements PieceReader {
  readonly #take: TakeElement;
  readonly #pieces: Buffer[] = [];

  constructor(sink: RecordSink) {
    this.#take = elementTaker(sink);
    sink.where = () => ({ offset: 0, length: Buffer.concat(this.#pieces).length });
  }

  push(piece: Buffer): null {
    this.#pieces.push(piece);
    return null;
  }

  end(): DeliveryProblem | null {
    const json = new Utf8Pieces().take(Buffer.concat(this.#pieces), true);
    if (json === null) return { code: 'invalid_utf8' };
    const read = parsePrepared(prepareJson(json, false));
    if ('code' in read) return read;
    const payload = isObject(read.value) ? read.value.payload : undefined;
    if (!isObject(payload)) return { code: 'push_invalid' };
    this.#take(payload, null);
    return null;
  }
}

type Read = { readonly value: unknown } | DeliveryProblem;

/** Parses JSON that was made ready; what is wrong with it apart from that comes after. */
export function parsePrepared(
  { bytes, loneSurrogateAt, tooDeepAt, tooLongAt }: PreparedJson,
  enclose: (text: string) => string = (text) => text,
): Read {
  if (tooDeepAt >= 0) return { code: 'json_too_deep' };
  const read = parseJson(enclose(textOf(bytes)));
  if ('code' in read) return read;
  if (tooLongAt >= 0) return { code: 'cell_too_long' };
  return loneSurrogateAt < 0 ? read : { code: 'lone_surrogate' };
}

export function parseJson(text: string): Read {
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    if (error instanceof SyntaxError) return { code: 'invalid_json' };
    throw error;
  }
}

/** Gives one element of a JSON body to the sink, as a record. */
export type TakeElement = (element: unknown, line: number | null) => void;

export function elementTaker(sink: RecordSink): TakeElement {
  const { positions, fields } = sink.plan;
  const cells: Cell[] = fields.map(() => undefined);
  return (element, line) => {
    if (!isObject(element)) {
      sink.brokenRecord({ field: null, code: 'record_not_object' }, line);
      return;
    }
    cells.fill(undefined);
    // Own names only, so that a field named __proto__ is a field like any other.
    for (const name of Object.keys(element)) {
      const position = positions.get(name);
      if (position === undefined) sink.undeclared(name);
      else cells[position] = cellOf(element[name]);
    }
    sink.record(cells, line);
  };
}

function cellOf(value: unknown): Cell {
  return typeof value === 'string' || value === null ? value : notText;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function textOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString();
}

/** The stretch without the white space around it. */
function trimmed(bytes: Buffer, offset: number, start: number, end: number): ByteRange {
  let first = start;
  let last = end;
  while (first < last && bytes[first]! <= 0x20) first++;
  while (last > first && bytes[last - 1]! <= 0x20) last--;
  return { offset: offset + first, length: last - first };
}
