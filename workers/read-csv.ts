import type { Cell } from '../src/domain/records.ts';
import type { DeliveryProblem } from '../src/domain/rejections.ts';
import type { ShapePlan } from '../src/domain/shape-plan.ts';
import { CsvRows } from './csv.ts';
import type { DeliveryRows } from './delivery-rows.ts';

/**
 * Reads a CSV body: a header row that names the declared fields in any order, then one row a
 * record (specification, POST /v1/webhooks; DECISIONS 2). Header names are matched exactly.
 *
 * @param delimiter `,`, or a tab for TSV, which is the same otherwise, quotes included
 * @returns why the body cannot be read to its end; null when it was
 */
export function readCsv(
  text: string,
  delimiter: string,
  rows: DeliveryRows,
): DeliveryProblem | null {
  const csv = new CsvRows(text, delimiter);
  const names = csv.next();
  if (text.includes('\r') && !text.includes('\n')) return { code: 'line_end_invalid' };
  if (names === null) return csv.problem ?? { code: 'header_missing' };
  const header = judgeHeader(names, csv.line, rows.plan);
  if ('code' in header) return header;
  for (const name of header.undeclared) rows.undeclared(name);

  const { columns } = header;
  const cells: Cell[] = columns.map(() => undefined);
  for (let row = csv.next(); row !== null; row = csv.next()) {
    if (row.length !== names.length) {
      rows.brokenRecord({ field: null, code: 'cell_count' }, csv.line);
      continue;
    }
    for (let i = 0; i < columns.length; i++) {
      const column = columns[i]!;
      cells[i] = column < 0 ? undefined : row[column]!;
    }
    rows.record(cells, csv.line);
  }
  return csv.problem;
}

interface Header {
  /** For each field of the shape its column; −1 when the header lacks it. */
  readonly columns: readonly number[];
  readonly undeclared: readonly string[];
}

function judgeHeader(
  names: readonly string[],
  line: number,
  plan: ShapePlan,
): Header | DeliveryProblem {
  const columns = plan.fields.map(() => -1);
  const undeclared: string[] = [];
  for (const [column, name] of names.entries()) {
    const position = plan.positions.get(name);
    if (position === undefined) undeclared.push(name);
    else if (columns[position] !== -1) return { code: 'header_field_twice', line, field: name };
    else columns[position] = column;
  }
  for (const [position, { name, required }] of plan.fields.entries()) {
    if (required && columns[position] === -1) {
      return { code: 'header_field_missing', line, field: name };
    }
  }
  return { columns, undeclared };
}
