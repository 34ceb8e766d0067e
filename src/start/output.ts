/** How the command line answers: one JSON value with `--json`, otherwise lines for a person. */
export type Answer = object | readonly object[];

/** @returns the text for stdout, newline included */
export function render(answer: Answer, json: boolean): string {
  if (json) return `${JSON.stringify(answer)}\n`;
  if (Array.isArray(answer)) return table(answer as Record<string, unknown>[]);
  return lines(answer as Record<string, unknown>);
}

function lines(answer: Record<string, unknown>): string {
  const names = Object.keys(answer);
  const width = Math.max(0, ...names.map((name) => name.length));
  return names.map((name) => `${name.padEnd(width)}  ${cell(answer[name])}\n`).join('');
}

function table(rows: readonly Record<string, unknown>[]): string {
  const [first] = rows;
  if (!first) return '(none)\n';
  const names = Object.keys(first);
  const widths = names.map((name) =>
    Math.max(name.length, ...rows.map((row) => cell(row[name]).length)),
  );
  const line = (cells: readonly string[]) =>
    `${cells
      .map((text, i) => text.padEnd(widths[i]!))
      .join('  ')
      .trimEnd()}\n`;
  return [names, ...rows.map((row) => names.map((name) => cell(row[name])))].map(line).join('');
}

function cell(value: unknown): string {
  if (value === null || value === undefined) return '-';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
