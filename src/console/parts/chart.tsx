import 'uplot/dist/uPlot.min.css';
import { useCallback, useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import { type Cell, type ChartData, chartData, type SeriesOfChart } from '../samples/chart-data.ts';
import { labelsTold } from '../samples/filter.ts';

interface ChartProps {
  readonly series: readonly SeriesOfChart[];
  /** What it shows, in one sentence. */
  readonly told: string;
  /** A point was clicked. */
  pick(line: number, point: number): void;
}

/** Lines over days. All of it stands in a table too, which keys and screen readers reach. */
export default function Chart({ series, told, pick }: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const [near, setNear] = useNear();
  const theme = useTheme();
  // What is read again and has not changed is not drawn again.
  const text = useMemo(() => JSON.stringify(series), [series]);
  const data = useMemo(() => chartData(series), [text]);
  const latest = useRef({ series, pick });
  latest.current = { series, pick };
  useEffect(() => {
    const at = place.current!;
    const plot = new uPlot(options(latest.current.series, data, at, setNear), columns(data), at);
    const { canvas } = plot.ctx;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', told);
    plot.over.addEventListener('click', () => {
      const found = nearest(plot, data);
      if (found) latest.current.pick(found.line, found.point);
    });
    const resized = new ResizeObserver(() => plot.setSize(sizeOf(at)));
    resized.observe(at);
    return () => {
      resized.disconnect();
      plot.destroy();
    };
  }, [data, told, theme]);
  return (
    <>
      <div class="chart" ref={place} />
      <p class="readout quiet" aria-hidden="true">
        {near
          ? nearTold(series, near)
          : 'Point at the chart to read it; click a point to trace it.'}
      </p>
    </>
  );
}

/** Said anew only when another point is pointed at. */
function useNear() {
  const [near, set] = useState<Near | null>(null);
  const setNear = useCallback((next: Near | null) => {
    set((now) => (now?.line === next?.line && now?.point === next?.point ? now : next));
  }, []);
  return [near, setNear] as const;
}

/** Changes with the theme. */
function useTheme(): number {
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    const changed = () => setChanges((before) => before + 1);
    const chosen = new MutationObserver(changed);
    chosen.observe(document.documentElement, { attributeFilter: ['data-theme'] });
    const system = window.matchMedia('(prefers-color-scheme: dark)');
    system.addEventListener('change', changed);
    return () => {
      chosen.disconnect();
      system.removeEventListener('change', changed);
    };
  }, []);
  return changes;
}

const height = 320;

function sizeOf(at: HTMLElement) {
  return { width: Math.max(200, at.clientWidth), height };
}

/** For each line what is drawn, and the edges of its band where days are put together. */
function columns({ at, lines, banded }: ChartData): uPlot.AlignedData {
  const drawn = lines.flatMap(({ last, min, max }) => (banded ? [last, max, min] : [last]));
  return [at, ...drawn] as uPlot.AlignedData;
}

const columnsOfLine = 3;
/** So many days side by side read better in thin lines, and take a third of the time to draw. */
const thinFrom = 180;

function options(
  series: readonly SeriesOfChart[],
  data: ChartData,
  at: HTMLElement,
  setNear: (near: Near | null) => void,
): uPlot.Options {
  const style = getComputedStyle(at);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const width = data.at.length > thinFrom ? 1 : 2;
  const lines = series.flatMap(({ sandbox }, i): uPlot.Series[] => {
    const stroke = colour(`--line-${i}`);
    const edge = { stroke: 'transparent', points: { show: false } };
    const points = { fill: colour('--back') };
    const line = { stroke, width, points, ...(sandbox && { dash: [6, 4] }) };
    return data.banded ? [line, edge, edge] : [line];
  });
  const [first, last] = [data.at[0]!, data.at.at(-1)!];
  const axis = { stroke: colour('--quiet'), grid: { stroke: colour('--line'), width: 1 } };
  return {
    ...sizeOf(at),
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { size: 9 } },
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1_000), 'Etc/UTC'),
    // The plot's own range around a single day is a thousand days long.
    scales: { x: { range: first === last ? [first - day, last + day] : [first, last] } },
    padding: [null, dateWidth / 2, null, null],
    axes: [
      { ...axis, space: 100, incrs: steps, values: (_, splits) => splits.map(dateOf) },
      { ...axis, size: widthOf },
    ],
    series: [{}, ...lines],
    bands: data.banded ? series.map((_, i) => bandOf(i, colour(`--line-${i}`))) : [],
    hooks: { setCursor: [(plot) => setNear(nearest(plot, data))] },
  };
}

function bandOf(line: number, colour: string): uPlot.Band {
  return {
    series: [line * columnsOfLine + 2, line * columnsOfLine + 3],
    fill: `color-mix(in srgb, ${colour} 22%, transparent)`,
  };
}

const day = 86_400;
const [month, year] = [30 * day, 365 * day];
/** Between the dates of the axis: never less than a day, so that no date stands there twice. */
const steps = [
  ...[day, 2 * day, 3 * day, 5 * day, 7 * day, 10 * day, 15 * day],
  ...[month, 2 * month, 3 * month, 4 * month, 6 * month],
  ...[year, 2 * year, 5 * year, 10 * year, 25 * year, 50 * year, 100 * year],
];
/** In pixels: half of the last date stands beside the lines. */
const dateWidth = 76;

function dateOf(seconds: number): string {
  return new Date(seconds * 1_000).toISOString().slice(0, 10);
}

/** Room for the longest number of the axis. */
function widthOf(_: uPlot, values: string[] | null): number {
  const longest = Math.max(4, ...(values ?? []).map((value) => value?.length ?? 0));
  return 18 + longest * 7;
}

/** The point that is pointed at. */
interface Near {
  readonly line: number;
  readonly point: number;
}

/** How many places to either side of the pointer are looked at. */
const placesAround = 40;

/** Of each line the point nearest along the days, and of these the one nearest to the pointer. */
function nearest(plot: uPlot, { at, lines }: ChartData): Near | null {
  const { idx, left = -1, top = -1 } = plot.cursor;
  if (idx === null || idx === undefined || left < 0) return null;
  let found: (Near & { readonly distance: number }) | null = null;
  for (const [line, { last, point }] of lines.entries()) {
    const i = nearestPlace(last, idx);
    if (i === null) continue;
    const [x, y] = [plot.valToPos(at[i]!, 'x') - left, plot.valToPos(last[i]!, 'y') - top];
    const distance = Math.hypot(x, y);
    if (found === null || distance < found.distance) found = { line, point: point[i]!, distance };
  }
  return found && { line: found.line, point: found.point };
}

function nearestPlace(values: readonly Cell[], place: number): number | null {
  for (let away = 0; away <= placesAround; away++) {
    if (typeof values[place + away] === 'number') return place + away;
    if (typeof values[place - away] === 'number') return place - away;
  }
  return null;
}

function nearTold(series: readonly SeriesOfChart[], { line, point }: Near): string {
  const one = series[line];
  if (!one || point >= one.points.last.length) return '';
  const { labels, sandbox, points } = one;
  const [from, to] = [points.first_day[point], points.last_day[point]];
  const [min, max] = [points.min[point], points.max[point]];
  const days = from === to ? from : `${from} to ${to}`;
  const range = min === max ? '' : `, from ${min} to ${max}`;
  const of = [labelsTold(labels), sandbox ? 'sandbox' : ''].filter(Boolean).join(', ');
  return `${days}: ${points.last[point]}${range}${of && ` (${of})`}`;
}
