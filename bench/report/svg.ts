import { figure } from './numbers.ts';
import type { ResultRow, ResultVariant } from './result.ts';

/**
 * Draws the results: for each variant how far it is beyond its goal, on a logarithmic scale with
 * the goal in the middle. To the right of the line the goal holds; a thin bar is the spread.
 */
export function drawResults(rows: readonly ResultRow[], caption: string): string {
  const lines = rows.flatMap((row) => row.variants.map((variant) => ({ row, variant })));
  const height = top + lines.length * lineHeight + bottom;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
      `font-family="sans-serif" font-size="13">`,
    `<rect width="${width}" height="${height}" fill="#ffffff"/>`,
    text(margin, 26, 'How far each figure is beyond its goal', 'font-size="17" fill="#111"'),
    text(margin, 46, caption, 'fill="#555"'),
    ...axis(height),
    ...lines.flatMap(({ row, variant }, i) => line(row, variant, top + i * lineHeight)),
    '</svg>',
    '',
  ].join('\n');
}

const width = 960;
const margin = 16;
const top = 84;
const bottom = 20;
const lineHeight = 30;
const barHeight = 12;
const plot = { left: 350, right: 790 };
/** The scale ends here: 8 times better or worse than the goal. */
const factorMax = 8;
const colours = { holds: '#2a7f62', missed: '#c2452d', beside: '#8a8f98' };

/** How many times better than its goal; 1 reaches it. */
export function beyondGoal(of: Pick<ResultVariant, 'goal' | 'bound'>, value: number): number {
  return of.bound === 'at least' ? value / of.goal : of.goal / value;
}

/** Where a factor stands on the scale. */
export function xOf(factor: number): number {
  const share = Math.log(factor) / Math.log(factorMax);
  const clamped = Math.max(-1, Math.min(1, share));
  return (plot.left + plot.right) / 2 + (clamped * (plot.right - plot.left)) / 2;
}

function axis(height: number): string[] {
  const end = height - bottom;
  return [1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8].flatMap((factor) => {
    const x = round(xOf(factor));
    const goal = factor === 1;
    const label = goal ? 'goal' : factor < 1 ? `${1 / factor}× short` : `${factor}×`;
    return [
      `<line x1="${x}" y1="${top - 8}" x2="${x}" y2="${end}" ` +
        `stroke="${goal ? '#111' : '#ddd'}" stroke-width="${goal ? 1.5 : 1}"/>`,
      text(x, top - 14, label, 'text-anchor="middle" fill="#555" font-size="11"'),
    ];
  });
}

function line(row: ResultRow, variant: ResultVariant, y: number): string[] {
  const middle = y + lineHeight / 2;
  const of = (value: number) => xOf(beyondGoal(variant, value));
  const value = variant.of === 'ratio' ? variant.ratio : variant.ours;
  const colour = colours[state(variant)];
  const bar = between(xOf(1), of(value));
  const spread = between(of(variant.spread.low), of(variant.spread.high));
  const sign = variant.bound === 'at least' ? '≥' : '≤';
  const unit = variant.of === 'ours' ? ` ${row.unit}` : '';
  const goal = variant.judged ? ` (${sign} ${figure(variant.goal)})` : '';
  const said = `${figure(value)}${unit}${goal}`;
  return [
    text(margin, middle + 4, row.name, 'fill="#111"'),
    text(margin + 124, middle + 4, variant.variant, 'fill="#555"'),
    `<rect x="${bar.x}" y="${middle - barHeight / 2}" width="${bar.width}" ` +
      `height="${barHeight}" fill="${colour}"/>`,
    ...(variant.of === 'ratio'
      ? [
          `<rect x="${spread.x}" y="${middle - 1}" width="${Math.max(1, spread.width)}" ` +
            `height="2" fill="#111"/>`,
        ]
      : []),
    text(plot.right + 14, middle + 4, said, `fill="${colour}"`),
  ];
}

function state({ judged, holds }: ResultVariant): keyof typeof colours {
  if (!judged) return 'beside';
  return holds ? 'holds' : 'missed';
}

function between(a: number, b: number): { x: number; width: number } {
  return { x: round(Math.min(a, b)), width: round(Math.abs(a - b)) };
}

function text(x: number, y: number, what: string, attributes: string): string {
  const escaped = what.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
  return `<text x="${round(x)}" y="${round(y)}" ${attributes}>${escaped}</text>`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
