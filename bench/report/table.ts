import type { Measured, Row } from '../measure.ts';
import { figure, goalText } from './numbers.ts';

const heads = ['name', 'variant', 'ours', 'theirs', 'unit', 'ratio', 'spread', 'goal', ''];
/** The columns of figures stand on the right. */
const figures = new Set(['ours', 'theirs', 'ratio']);

/** The rows as a table for the terminal, every variant on a line. */
export function tableText(rows: readonly Row[]): string {
  const lines = rows.flatMap((row) => row.all.map((measured) => cellsOf(row, measured)));
  const widths = heads.map((head, i) =>
    Math.max(...[heads, ...lines].map((l) => l[i]!.length), head.length),
  );
  const text = (cells: readonly string[]) =>
    cells
      .map((cell, i) =>
        figures.has(heads[i]!) ? cell.padStart(widths[i]!) : cell.padEnd(widths[i]!),
      )
      .join('  ')
      .trimEnd();
  return [heads, widths.map((width) => '-'.repeat(width)), ...lines].map(text).join('\n');
}

/** The same as Markdown. */
export function tableMarkdown(rows: readonly Row[]): string {
  const lines = rows.flatMap((row) => row.all.map((measured) => cellsOf(row, measured)));
  const rule = heads.map((head) => (figures.has(head) ? '--:' : '---'));
  return [heads, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cellsOf({ name, unit }: Row, measured: Measured): string[] {
  const { variant, ours, theirs, ratio, spread, goal } = measured;
  return [
    name,
    variant,
    figure(ours),
    figure(theirs),
    unit,
    figure(ratio),
    `${figure(spread.low)} – ${figure(spread.high)}`,
    measured.judged ? goalText(goal, unit) : '',
    verdict(measured),
  ];
}

function verdict({ judged, holds }: Measured): string {
  if (!judged) return 'beside';
  return holds ? 'holds' : 'missed';
}
