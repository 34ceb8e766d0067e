import { Parser } from 'saxen';
import { limits } from '../src/domain/limits.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { PieceReader } from './record-sink.ts';
import { Utf8Pieces } from './utf8-pieces.ts';

/** What is told of an XML document; names come without their namespace's prefix. */
export interface XmlEvents {
  open?(name: string, attributes: Readonly<Record<string, string>>): DeliveryProblem | null;
  close?(name: string): DeliveryProblem | null;
  /** A part of the text within an element; there may be several. */
  text?(text: string): void;
}

const invalid: DeliveryProblem = { code: 'xlsx_invalid' };
const depthMax = 64;

/**
 * Reads an XML document in UTF-8 that comes in pieces. What only warns a lenient reader is refused
 * here, and so is any document type: no entity but the five that XML knows is ever expanded.
 */
export class XmlReader implements PieceReader {
  readonly #parser = new Parser();
  readonly #utf8 = new Utf8Pieces();
  #problem: DeliveryProblem | null = null;
  #depth = 0;
  /** Characters since something was told: a token that does not end is not read over and over. */
  #silent = 0;

  constructor(events: XmlEvents) {
    const fail = (problem: DeliveryProblem | null | undefined) => {
      if (problem == null || this.#problem !== null) return;
      this.#problem = problem;
      this.#parser.stop();
    };
    const heard = () => {
      this.#silent = 0;
    };
    const text = (part: string, decoded: string | null) => {
      heard();
      if (decoded === null) fail(invalid);
      else if (part.length > limits.cellCharsMax) fail({ code: 'cell_too_long' });
      else events.text?.(decoded);
    };
    this.#parser
      .on('error', () => fail(invalid))
      .on('warn', () => fail(invalid))
      .on('attention', () => fail(invalid))
      .on('comment', heard)
      .on('question', heard)
      .on('cdata', (part) => text(part, part))
      .on('text', (part) => text(part, decodeEntities(part)))
      .on('closeTag', (name) => {
        heard();
        this.#depth--;
        fail(events.close?.(withoutPrefix(name)));
      })
      .on('openTag', (name, attributes) => {
        heard();
        this.#depth++;
        if (this.#depth > depthMax) return fail(invalid);
        const decoded = decodedAttributes(attributes());
        fail(decoded === null ? invalid : events.open?.(withoutPrefix(name), decoded));
      });
  }

  push(piece: Buffer): DeliveryProblem | null {
    return this.#read(piece, false);
  }

  end(): DeliveryProblem | null {
    const problem = this.#read(Buffer.alloc(0), true);
    if (problem !== null) return problem;
    this.#parser.end();
    return this.#problem;
  }

  #read(piece: Buffer, last: boolean): DeliveryProblem | null {
    if (this.#problem !== null) return this.#problem;
    const bytes = this.#utf8.take(piece, last);
    if (bytes === null) return invalid;
    this.#silent += bytes.length;
    this.#parser.write(bytes.toString());
    if (this.#silent > 2 * limits.cellCharsMax) return { code: 'cell_too_long' };
    return this.#problem;
  }
}

function decodedAttributes(
  attributes: Record<string, string> | false,
): Record<string, string> | null {
  if (attributes === false) return null;
  const decoded: Record<string, string> = {};
  for (const [name, value] of Object.entries(attributes)) {
    const text = decodeEntities(value);
    if (text === null) return null;
    decoded[withoutPrefix(name)] = text;
  }
  return decoded;
}

function withoutPrefix(name: string): string {
  const colon = name.indexOf(':');
  return colon < 0 || name.startsWith('xmlns:') ? name : name.slice(colon + 1);
}

const entity = /&(?:#([0-9]{1,7})|#x([0-9a-fA-F]{1,6})|(amp|lt|gt|quot|apos));|&/g;
const named: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

/** @returns null when there is an entity that XML does not know, or a character it does not have */
export function decodeEntities(text: string): string | null {
  if (!text.includes('&')) return text;
  let sound = true;
  const decoded = text.replace(entity, (_, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return named[name]!;
    const point = decimal !== undefined ? Number(decimal) : Number.parseInt(hex ?? '', 16);
    const exists = point <= 0x10ffff && (point < 0xd800 || point > 0xdfff) && point > 0;
    if (exists) return String.fromCodePoint(point);
    sound = false;
    return '';
  });
  return sound ? decoded : null;
}
