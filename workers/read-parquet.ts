import {
  type DecodedArray,
  type FileMetaData,
  parquetMetadata,
  type RowGroup,
  type SchemaElement,
} from 'hyparquet';
import { limits } from '../src/domain/limits.ts';
import type { Cell } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import { cellsOf, type ToCell } from './parquet-cells.ts';
import { decodeChunk } from './parquet-chunk.ts';
import { judgeHeader } from './read-csv.ts';
import type { RecordSink } from './record-sink.ts';
import { thriftEnd } from './thrift-check.ts';
import { UnpackBudget } from './unpack.ts';

const magicBytes = 4;
const schemaDepthMax = 32;
const rowsBetweenPauses = 4_096;
const invalid: DeliveryProblem = { code: 'parquet_invalid' };

/**
 * Reads a Parquet file, row group by row group: each row is a record. The columns at the top are
 * its fields; a nested one can be declared, but have no role. Only declared columns are unpacked.
 *
 * Nothing of the file is believed before it was checked: decoders allocate what a footer or a page
 * says, and an allocation that fails can end the process.
 */
export async function readParquet(
  bytes: Buffer,
  sink: RecordSink,
): Promise<DeliveryProblem | null> {
  const metadata = readFooter(bytes);
  if ('code' in metadata) return metadata;
  const schema = topColumns(metadata.schema);
  if (schema === null) return invalid;
  const columns = columnsFor(schema, sink);
  if ('code' in columns) return columns;
  const rows = metadata.row_groups.reduce((sum, group) => sum + Number(group.num_rows), 0);
  if (rows !== Number(metadata.num_rows)) return invalid;
  if (rows > limits.recordsMax) return { code: 'too_many_records' };

  const budget = new UnpackBudget(bytes.length);
  let textChars = 0;
  for (const group of metadata.row_groups) {
    const values = groupValues(bytes, group, columns, budget);
    if ('code' in values) return values;
    const cells: Cell[] = sink.plan.fields.map(() => undefined);
    for (let row = 0; row < Number(group.num_rows); row++) {
      for (const [i, { position, toCell }] of columns.entries()) {
        const cell = toCell(values[i]!.next());
        if (typeof cell === 'object' && cell !== null) return cell;
        // A dictionary's text can be named by any number of rows.
        if (typeof cell === 'string') textChars += cell.length;
        cells[position] = cell;
      }
      if (textChars > limits.unpackedBytesMax) return { code: 'unpacked_too_large' };
      sink.record(cells, null);
      if (row % rowsBetweenPauses === 0) await sink.pause();
    }
  }
  return null;
}

function readFooter(bytes: Buffer): FileMetaData | DeliveryProblem {
  if (bytes.length < 3 * magicBytes) return invalid;
  const magic = bytes.toString('latin1', bytes.length - magicBytes);
  if (magic === 'PARE') return { code: 'parquet_unsupported' };
  if (magic !== 'PAR1' || bytes.toString('latin1', 0, magicBytes) !== 'PAR1') return invalid;
  const end = bytes.length - 2 * magicBytes;
  const length = bytes.readUInt32LE(end);
  if (length > Math.min(limits.parquetFooterBytesMax, end - magicBytes)) return invalid;
  // A copy, so that what is read of it does not keep the body.
  const footer = new Uint8Array(bytes.subarray(end - length));
  if (thriftEnd(footer, 0) !== length) return invalid;
  try {
    const metadata = parquetMetadata(footer, { geoparquet: false });
    const counts = [metadata.num_rows, ...metadata.row_groups.map((group) => group.num_rows)];
    return counts.every((count) => typeof count === 'bigint' && count >= 0n) ? metadata : invalid;
  } catch {
    // Whatever it throws is about the bytes.
    return invalid;
  }
}

interface TopColumn {
  readonly element: SchemaElement;
  readonly nested: boolean;
}

/** The columns at the top of a schema, which stands as a list in depth-first order. */
function topColumns(schema: readonly SchemaElement[]): TopColumn[] | null {
  const columns: TopColumn[] = [];
  let at = 1;
  for (let i = 0; i < (schema[0]?.num_children ?? 0); i++) {
    const element = schema[at];
    const end = subtreeEnd(schema, at, 1);
    if (element === undefined || end < 0 || columns.length > limits.columnsMax) return null;
    columns.push({ element, nested: end > at + 1 || element.repetition_type === 'REPEATED' });
    at = end;
  }
  return at === schema.length ? columns : null;
}

function subtreeEnd(schema: readonly SchemaElement[], at: number, depth: number): number {
  const element = schema[at];
  if (element === undefined || depth > schemaDepthMax) return -1;
  let end = at + 1;
  for (let i = 0; i < (element.num_children ?? 0); i++) {
    end = subtreeEnd(schema, end, depth + 1);
    if (end < 0) return -1;
  }
  return end;
}

/** A column that is declared. */
interface Column {
  /** Null: it is there, and that is all that counts. */
  readonly element: SchemaElement | null;
  /** The place of its field in the shape. */
  readonly position: number;
  readonly toCell: ToCell;
}

function columnsFor(schema: readonly TopColumn[], sink: RecordSink): Column[] | DeliveryProblem {
  if (schema.length > limits.columnsMax) return { code: 'too_many_columns' };
  const header = judgeHeader(
    schema.map(({ element }) => element.name),
    null,
    sink.plan,
  );
  if ('code' in header) return header;
  for (const name of header.undeclared) sink.undeclared(name);
  const columns: Column[] = [];
  for (const [position, index] of header.columns.entries()) {
    if (index < 0) continue;
    const { element, nested } = schema[index]!;
    const { name, role } = sink.plan.fields[position]!;
    if (nested && role !== undefined) return { code: 'column_nested', field: name };
    const toCell = cellsOf(element);
    if (toCell === null) return invalid;
    const isRead = role !== undefined || (sink.wantsAll && !nested);
    columns.push({ element: isRead ? element : null, position, toCell });
  }
  return columns;
}

/** The values of each column, of one row group. */
function groupValues(
  bytes: Buffer,
  group: RowGroup,
  columns: readonly Column[],
  budget: UnpackBudget,
): ValueCursor[] | DeliveryProblem {
  const cursors: ValueCursor[] = [];
  for (const { element } of columns) {
    if (element === null) {
      cursors.push(new ValueCursor(null));
      continue;
    }
    const values = columnValues(bytes, group, element, budget);
    if ('code' in values) return values;
    cursors.push(new ValueCursor(values as readonly DecodedArray[]));
  }
  return cursors;
}

function columnValues(
  bytes: Buffer,
  group: RowGroup,
  element: SchemaElement,
  budget: UnpackBudget,
): readonly DecodedArray[] | DeliveryProblem {
  const chunk = group.columns.find(
    ({ meta_data }) =>
      meta_data?.path_in_schema.length === 1 && meta_data.path_in_schema[0] === element.name,
  );
  if (chunk?.crypto_metadata || chunk?.encrypted_column_metadata) {
    return { code: 'parquet_unsupported' };
  }
  const meta = chunk?.meta_data;
  const external = chunk?.file_path !== undefined;
  if (!meta || external || meta.type !== element.type) return invalid;
  if (meta.num_values !== group.num_rows) return invalid;
  const start = Number(meta.dictionary_page_offset || meta.data_page_offset);
  const end = start + Number(meta.total_compressed_size);
  if (!(start >= magicBytes && end >= start && end <= bytes.length)) return invalid;
  const pages = new Uint8Array(bytes.subarray(start, end));
  return decodeChunk({ bytes: pages, meta, element, rows: Number(group.num_rows) }, budget);
}

/** Goes through values that come page by page; of a column that is not read, all are null. */
class ValueCursor {
  readonly #pages: readonly DecodedArray[] | null;
  #page = 0;
  #at = 0;

  constructor(pages: readonly DecodedArray[] | null) {
    this.#pages = pages;
  }

  /** Undefined beyond the last. */
  next(): unknown {
    if (this.#pages === null) return null;
    let page = this.#pages[this.#page];
    while (page !== undefined && this.#at === page.length) {
      this.#page++;
      this.#at = 0;
      page = this.#pages[this.#page];
    }
    return page?.[this.#at++];
  }
}
