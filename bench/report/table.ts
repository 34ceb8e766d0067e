import { figure, goalText } from './numbers.ts';
import type { ResultRow, ResultVariant } from './result.ts';

const heads = ['name', 'variant', 'ours', 'theirs', 'unit', 'ratio', 'spread', 'goal', ''];
/** The columns of figures stand on the right. */
const figures = new Set(['ours', 'theirs', 'ratio']);

/** The rows as a table for the terminal, every variant on a line. */
export function tableText(rows: readonly ResultRow[]): string {
  const lines = linesOf(rows);
  const widths = heads.map((_, i) =>
    Math.max(...[heads, ...lines].map((cells) => width(cells, i))),
  );
  const padded = (cell: string, i: number) =>
    figures.has(heads[i]!) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!);
  const text = (cells: readonly string[]) => cells.map(padded).join('  ').trimEnd();
  const rule = widths.map((wide) => '-'.repeat(wide));
  return [heads, rule, ...lines].map(text).join('\n');
}

/** The same as Markdown. */
export function tableMarkdown(rows: readonly ResultRow[]): string {
  const rule = heads.map((head) => (figures.has(head) ? '--:' : '---'));
  return [heads, rule, ...linesOf(rows)].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function width(cells: readonly string[], i: number): number {
  return cells[i]!.length;
}

function linesOf(rows: readonly ResultRow[]): string[][] {
  return rows.flatMap((row) => row.variants.map((variant) => cellsOf(row, variant)));
}

function cellsOf({ name, unit }: ResultRow, result: ResultVariant): string[] {
  const { variant, ours, theirs, ratio, spread, goal, bound, of, judged } = result;
  return [
    name,
    variant,
    figure(ours),
    figure(theirs),
    unit,
    figure(ratio),
    `${figure(spread.low)} – ${figure(spread.high)}`,
    judged ? goalText({ value: goal, bound, of }, unit) : '',
    verdict(result),
  ];
}

function verdict({ judged, holds }: ResultVariant): string {
  if (!judged) return 'beside';
  return holds ? 'holds' : 'missed';
}
