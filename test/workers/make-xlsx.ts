import { crc32, deflateRawSync } from 'node:zlib';

export interface ZipFile {
  readonly name: string;
  readonly content: string | Buffer;
  readonly stored?: boolean;
  /** What the directory says instead of the truth. */
  readonly bytes?: number;
  readonly crc?: number;
  readonly flags?: number;
  /** Another name in the local header. */
  readonly localName?: string;
}

/** Makes a ZIP archive; `lie` changes the archive's end. */
export function zipOf(files: readonly ZipFile[], comment = ''): Buffer {
  const locals: Buffer[] = [];
  const entries: Buffer[] = [];
  let offset = 0;
  for (const { name, content, stored = false, flags = 0, localName = name, ...lies } of files) {
    const body = Buffer.from(content);
    const packed = stored ? body : deflateRawSync(body);
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(flags, 2);
    shared.writeUInt16LE(stored ? 0 : 8, 4);
    shared.writeUInt32LE(lies.crc ?? crc32(body), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(lies.bytes ?? body.length, 18);
    shared.writeUInt16LE(Buffer.byteLength(localName), 22);
    const local = Buffer.concat([
      Buffer.from('PK\x03\x04'),
      shared,
      Buffer.from(localName),
      packed,
    ]);
    shared.writeUInt16LE(Buffer.byteLength(name), 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(offset, 10);
    const head = Buffer.from('PK\x01\x02\x14\x00');
    entries.push(Buffer.concat([head, shared, tail, Buffer.from(name)]));
    locals.push(local);
    offset += local.length;
  }
  const directory = Buffer.concat(entries);
  const end = Buffer.alloc(22);
  end.write('PK\x05\x06', 'latin1');
  end.writeUInt16LE(files.length, 8);
  end.writeUInt16LE(files.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  end.writeUInt16LE(Buffer.byteLength(comment), 20);
  return Buffer.concat([...locals, directory, end, Buffer.from(comment)]);
}

export interface Parts {
  /** What stands in `sheetData`. */
  readonly rows?: string;
  readonly strings?: string;
  /** Number formats of cell styles, by their codes; style 0 is General. */
  readonly formats?: readonly string[];
  readonly since1904?: boolean;
  /** Instead of the whole sheet. */
  readonly sheet?: string | Buffer;
  /** Added to the sheet's file in the archive. */
  readonly lies?: Partial<ZipFile>;
  readonly more?: readonly ZipFile[];
}

const relations = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const spreadsheet = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const header = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n';

/** Makes a workbook of one sheet, whose XML the test writes. */
export function xlsxOf(parts: Parts): Buffer {
  return zipOf(xlsxFiles(parts));
}

export function xlsxFiles(parts: Parts): ZipFile[] {
  const { rows = '', strings = '', formats = [], since1904 = false, lies = {}, more = [] } = parts;
  const relation = (id: string, type: string, target: string) =>
    `<Relationship Id="${id}" Type="${relations}/${type}" Target="${target}"/>`;
  const numbered = formats.map((code, i) => `<numFmt numFmtId="${200 + i}" formatCode="${code}"/>`);
  const styles = formats.map((_, i) => `<xf numFmtId="${200 + i}"/>`);
  const sheet = `<worksheet xmlns="${spreadsheet}"><sheetData>${rows}</sheetData></worksheet>`;
  const related = (...all: string[]) => `${header}<Relationships>${all.join('')}</Relationships>`;
  const workbook = [
    `<workbook xmlns:r="${relations}"><workbookPr date1904="${since1904}"/>`,
    '<sheets><sheet name="A" sheetId="1" r:id="r7"/></sheets></workbook>',
  ].join('');
  const styleSheet = [
    `<styleSheet><numFmts>${numbered.join('')}</numFmts>`,
    '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>',
    `<cellXfs><xf numFmtId="0"/>${styles.join('')}<xf numFmtId="14"/></cellXfs></styleSheet>`,
  ].join('');
  return [
    {
      name: '_rels/.rels',
      content: related(relation('r1', 'officeDocument', 'xl/workbook.xml')),
    },
    { name: 'xl/workbook.xml', content: header + workbook },
    {
      name: 'xl/_rels/workbook.xml.rels',
      content: related(
        relation('r1', 'styles', 'styles.xml'),
        relation('r2', 'sharedStrings', '/xl/sharedStrings.xml'),
        relation('r7', 'worksheet', 'worksheets/sheet1.xml'),
      ),
    },
    { name: 'xl/styles.xml', content: header + styleSheet },
    { name: 'xl/sharedStrings.xml', content: `${header}<sst>${strings}</sst>` },
    ...more,
    { name: 'xl/worksheets/sheet1.xml', content: parts.sheet ?? header + sheet, ...lies },
  ];
}

/** A row of cells that the test writes; text becomes an inline string. */
export function rowOf(number: number, cells: readonly (string | number)[]): string {
  const xml = cells.map((cell, i) => {
    const at = `r="${String.fromCharCode(65 + i)}${number}"`;
    if (typeof cell === 'number') return `<c ${at}><v>${cell}</v></c>`;
    if (cell.startsWith('<c')) return cell.replace('<c', `<c ${at}`);
    return `<c ${at} t="inlineStr"><is><t>${cell}</t></is></c>`;
  });
  return `<row r="${number}">${xml.join('')}</row>`;
}
