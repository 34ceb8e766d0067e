import { useState } from 'preact/hooks';
import { SandboxBadge } from '../parts/marks.tsx';
import type { SeriesAnswer } from './chart-data.ts';
import { labelsTold } from './filter.ts';

interface PointTableProps {
  readonly answer: SeriesAnswer;
  address(line: number, point: number): string;
}

/** What the chart draws, for who reads rather than looks; made when it is opened. */
export function PointTable({ answer, address }: PointTableProps) {
  const [open, setOpen] = useState(false);
  const toggle = (event: Event) => setOpen((event.currentTarget as HTMLDetailsElement).open);
  return (
    <details onToggle={toggle}>
      <summary>Points of the chart as a table</summary>
      {open && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by keys
        <section class="scroll points" aria-label="Points of the chart" tabIndex={0}>
          <Points answer={answer} address={address} />
        </section>
      )}
    </details>
  );
}

/** Rows that are shown at first. */
const rowsAtFirst = 100;

function Points({ answer, address }: PointTableProps) {
  const { series } = answer;
  const [shown, setShown] = useState(rowsAtFirst);
  const rows = new Map<string, (number | undefined)[]>();
  for (const [line, { points }] of series.entries()) {
    for (const [i, day] of points.last_day.entries()) {
      const row = rows.get(day) ?? [];
      row[line] = i;
      rows.set(day, row);
    }
  }
  const newestFirst = [...rows].sort(([a], [b]) => (a < b ? 1 : -1));
  return (
    <>
      <table>
        <thead>
          <tr>
            <th>Day</th>
            {series.map(({ labels, sandbox }) => (
              <th class="number" key={`${JSON.stringify(labels)}${sandbox}`}>
                {labelsTold(labels) || 'all samples'} {sandbox && <SandboxBadge />}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {newestFirst.slice(0, shown).map(([day, points]) => (
            <tr key={day}>
              <td class="short">{day}</td>
              {series.map(({ points: of }, line) => {
                const point = points[line];
                return (
                  <td class="number" key={line}>
                    {point !== undefined && <a href={address(line, point)}>{of.last[point]}</a>}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
      {shown < rows.size && (
        <button type="button" onClick={() => setShown(rows.size)}>
          Show all {rows.size} days
        </button>
      )}
    </>
  );
}
