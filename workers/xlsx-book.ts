import { posix } from 'node:path';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { UnpackBudget } from './unpack.ts';
import { type XmlEvents, XmlReader } from './xml.ts';
import { readZip, unpackEntry, type ZipEntry } from './zip.ts';

/** What is needed to read the first sheet of a workbook. */
export interface Workbook {
  readonly sheet: ZipEntry;
  readonly budget: UnpackBudget;
  readonly since1904: boolean;
  /** By the number of a cell's style: whether it shows a date. */
  readonly dateStyles: readonly boolean[];
  readonly strings: readonly string[];
}

const invalid: DeliveryProblem = { code: 'xlsx_invalid' };
const compoundFile = Buffer.from('d0cf11e0a1b11ae1', 'hex');

/**
 * Opens an XLSX workbook: the first worksheet in the order of its tabs, shared strings and styles
 * (ECMA-376). Macros, drawings and other sheets are never unpacked.
 */
export async function openWorkbook(bytes: Buffer): Promise<Workbook | DeliveryProblem> {
  // With a password, the workbook is a stream in another kind of container.
  if (bytes.subarray(0, compoundFile.length).equals(compoundFile)) {
    const encrypted = bytes.includes(Buffer.from('EncryptedPackage', 'utf16le'));
    return encrypted ? { code: 'xlsx_encrypted' } : invalid;
  }
  const entries = readZip(bytes);
  if ('code' in entries) return entries;
  const files = new Files(entries as ReadonlyMap<string, ZipEntry>, bytes.length);
  const root = await files.relations('');
  const book = root.find(({ type }) => type.endsWith('/officeDocument'))?.target;
  if (book === undefined) return files.problem ?? invalid;

  const { sheetIds, since1904 } = await files.workbook(book);
  const related = await files.relations(book);
  const sheets = related.filter(({ type }) => type.endsWith('/worksheet'));
  const target = (end: string) => related.find(({ type }) => type.endsWith(end))?.target;
  const first = sheetIds.map((id) => sheets.find((one) => one.id === id)).find(Boolean);
  const sheet = entries.get(first?.target ?? '');
  const dateStyles = await files.dateStyles(target('/styles'));
  const strings = await files.strings(target('/sharedStrings'));
  if (files.problem !== null) return files.problem;
  if (sheet === undefined) return invalid;
  return { sheet, budget: files.budget, since1904, dateStyles, strings };
}

interface Relation {
  readonly id: string;
  readonly type: string;
  /** A path in the archive. */
  readonly target: string;
}

/** Reads the small files of a workbook; the first problem stays, and nothing is read after it. */
class Files {
  problem: DeliveryProblem | null = null;
  readonly budget: UnpackBudget;
  readonly #entries: ReadonlyMap<string, ZipEntry>;

  constructor(entries: ReadonlyMap<string, ZipEntry>, packedBytes: number) {
    this.#entries = entries;
    this.budget = new UnpackBudget(packedBytes);
  }

  /** What a file refers to; the archive itself is ''. */
  async relations(of: string): Promise<readonly Relation[]> {
    const directory = posix.dirname(of);
    const relations: Relation[] = [];
    await this.#read(posix.join(directory, '_rels', `${posix.basename(of)}.rels`), {
      open(name, { Id: id = '', Type: type = '', Target: target = '', TargetMode: mode }) {
        if (name !== 'Relationship' || mode === 'External') return null;
        const path = target.startsWith('/') ? target : posix.join('/', directory, target);
        relations.push({ id, type, target: posix.normalize(path).slice(1) });
        return null;
      },
    });
    return relations;
  }

  async workbook(path: string): Promise<{ sheetIds: string[]; since1904: boolean }> {
    const found = { sheetIds: [] as string[], since1904: false };
    await this.#read(path, {
      open(name, attributes) {
        if (name === 'sheet') found.sheetIds.push(attributes.id ?? '');
        else if (name === 'workbookPr') found.since1904 = isTrue(attributes.date1904);
        return null;
      },
    });
    return found;
  }

  async dateStyles(path: string | undefined): Promise<boolean[]> {
    const styles: boolean[] = [];
    const formats = new Map<string, string>();
    let inCells = false;
    if (path === undefined) return styles;
    await this.#read(path, {
      open(name, { numFmtId: id = '0', formatCode = '' }) {
        if (name === 'numFmt') formats.set(id, formatCode);
        else if (name === 'cellXfs') inCells = true;
        else if (name === 'xf' && inCells) styles.push(isDateFormat(Number(id), formats.get(id)));
        return null;
      },
      close(name) {
        if (name === 'cellXfs') inCells = false;
        return null;
      },
    });
    return styles;
  }

  async strings(path: string | undefined): Promise<string[]> {
    const strings: string[] = [];
    if (path === undefined) return strings;
    const text = new StringItem();
    await this.#read(path, {
      open(name) {
        if (name === 'si') text.begin();
        else text.open(name);
        return null;
      },
      close(name) {
        text.close(name);
        if (name !== 'si') return null;
        const string = text.end();
        if (string === null) return { code: 'lone_surrogate' };
        strings.push(string);
        return null;
      },
      text: (part) => text.add(part),
    });
    return strings;
  }

  async #read(path: string, events: XmlEvents): Promise<void> {
    if (this.problem !== null) return;
    const entry = this.#entries.get(path);
    if (entry === undefined) {
      this.problem = invalid;
      return;
    }
    const reader = new XmlReader(events);
    const take = async (piece: Buffer) => reader.push(piece);
    this.problem = (await unpackEntry(entry, this.budget, take)) ?? reader.end();
  }
}

/** The text of a shared or inline string, put together from its runs; phonetics are left out. */
export class StringItem {
  #text = '';
  #inText = false;
  #inPhonetic = false;

  begin(): void {
    this.#text = '';
    this.#inText = false;
    this.#inPhonetic = false;
  }

  open(name: string): void {
    if (name === 't') this.#inText = true;
    else if (name === 'rPh') this.#inPhonetic = true;
  }

  close(name: string): void {
    if (name === 't') this.#inText = false;
    else if (name === 'rPh') this.#inPhonetic = false;
  }

  add(part: string): void {
    if (this.#inText && !this.#inPhonetic) this.#text += part;
  }

  /** @returns null when the text is not well formed */
  end(): string | null {
    return unescaped(this.#text);
  }
}

/** Characters that XML cannot hold stand as `_x000D_` (ECMA-376, part 1, section 22.9.2.19). */
export function unescaped(text: string): string | null {
  const plain = !text.includes('_x')
    ? text
    : text.replace(/_x([0-9a-fA-F]{4})_/g, (_, hex: string) =>
        String.fromCharCode(Number.parseInt(hex, 16)),
      );
  return plain.isWellFormed() ? plain : null;
}

/** Whether a number format shows a date or a time of day (ECMA-376, part 1, section 18.8.30). */
export function isDateFormat(id: number, code: string | undefined): boolean {
  if (code === undefined) {
    return (id >= 14 && id <= 22) || (id >= 27 && id <= 36) || (id >= 45 && id <= 58);
  }
  // Only the part for positive numbers counts, without literal text, colours and conditions.
  const [first = ''] = code.replace(/"[^"]*"|\\.|_.|\*./g, '').split(';');
  return /[dmyhs]/i.test(
    first.replace(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, '').replace(/general/i, ''),
  );
}

function isTrue(text: string | undefined): boolean {
  return text === '1' || text === 'true';
}
