import { lazy, useLocation } from 'preact-iso';
import type { readSeries } from '../../domain/api/app/samples.ts';
import { get } from '../api.ts';
import { SandboxBadge } from '../parts/marks.tsx';
import { count } from '../parts/numbers.ts';
import { ReadFailure } from '../parts/stale.tsx';
import { useRead } from '../use-read.ts';
import { chartTold, type SeriesAnswer } from './chart-data.ts';
import type { Facets } from './facets.ts';
import {
  asQuery,
  dayLater,
  labelsTold,
  pageAddress,
  type SamplesFilter,
  traceAddress,
} from './filter.ts';
import { PointTable } from './point-table.tsx';
import { useKept } from './use-kept.ts';

const Chart = lazy(() => import('../parts/chart.tsx'));

const pollMs = 10_000;

interface SeriesChartProps {
  readonly sourceId: string;
  readonly filter: SamplesFilter;
  readonly facets: Facets | null;
}

/** The lines of one metric, one for each label set; a point leads to its sample. */
export function SeriesChart({ sourceId, filter, facets }: SeriesChartProps) {
  const { route } = useLocation();
  const path = `/app/api/sources/${sourceId}/series`;
  const query = asQuery(filter);
  const read = useRead(
    `series ${path} ${JSON.stringify(query)}`,
    (signal) => get<typeof readSeries>(path, query, signal),
    pollMs,
  );
  const data = useKept(read);
  const { error } = read;
  const about = facets?.metrics.find(({ key }) => key === filter.metric);
  const pick = (line: number, point: number) => {
    route(pointAddress(sourceId, filter, data!, line, point));
  };
  return (
    <section aria-label="Chart">
      <h2>
        {about?.name ?? filter.metric} {about?.unit && <span class="quiet">in {about.unit}</span>}
      </h2>
      <ReadFailure error={error} kept={data !== null} />
      <div class="chart-place">
        {data && data.series.length > 0 && (
          <Chart series={data.series} told={chartTold(data, filter.metric)} pick={pick} />
        )}
        {data?.series.length === 0 && <p class="quiet">There is nothing to draw here.</p>}
      </div>
      {data && data.series.length > 0 && <Legend answer={data} />}
      {data && data.series.length > 0 && (
        <PointTable
          {...{ answer: data, address: pointAddress.bind(null, sourceId, filter, data) }}
        />
      )}
    </section>
  );
}

/** Of one sample its trace; of days that are put together, these days alone. */
function pointAddress(
  sourceId: string,
  filter: SamplesFilter,
  { series }: SeriesAnswer,
  line: number,
  point: number,
): string {
  const { labels, sandbox, points } = series[line]!;
  const [from, last] = [points.first_day[point]!, points.last_day[point]!];
  if (points.samples[point] === 1) {
    return traceAddress(sourceId, { metric: filter.metric, period_start: last, labels, sandbox });
  }
  return pageAddress(sourceId, filter, { from, to: dayLater(last, 1), labels });
}

function Legend({ answer }: { answer: SeriesAnswer }) {
  const { series, total, bucket_days: days } = answer;
  return (
    <>
      <ul class="legend" aria-label="Lines">
        {series.map(({ labels, sandbox }, i) => (
          <li key={`${JSON.stringify(labels)}${sandbox}`}>
            <span class={`swatch line-${i}${sandbox ? ' dashed' : ''}`} />
            {labelsTold(labels) || 'all samples'} {sandbox && <SandboxBadge />}
          </li>
        ))}
      </ul>
      {total > series.length && (
        <p class="quiet">
          {series.length} of {count(total)} lines are drawn, those with the most samples. Choose
          labels to see others.
        </p>
      )}
      {days > 1 && (
        <p class="quiet">
          A point stands for {days} days: the line goes through the last value, the band from the
          least to the greatest. A click shows the days of a point.
        </p>
      )}
    </>
  );
}
