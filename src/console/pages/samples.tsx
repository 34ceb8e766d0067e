import './samples.css';
import { lazy, useLocation } from 'preact-iso';
import type { readFacets } from '../../domain/api/app/samples.ts';
import { address } from '../address.ts';
import { get } from '../api.ts';
import { ReadFailure } from '../parts/stale.tsx';
import type { Facets } from '../samples/facets.ts';
import {
  asQuery,
  everyMetric,
  filterIn,
  pageAddress,
  type SamplesFilter,
} from '../samples/filter.ts';
import { FilterForm } from '../samples/filter-form.tsx';
import { SampleTable } from '../samples/sample-table.tsx';
import { SeriesChart } from '../samples/series-chart.tsx';
import { useKept } from '../samples/use-kept.ts';
import type { SourceTabProps } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';

const Trace = lazy(() => import('./trace.tsx'));

const facetsPollMs = 30_000;

/** The samples of a source as a chart and a table; a value leads to where it comes from. */
export default function Samples(props: SourceTabProps) {
  return props.rest === 'trace' ? <Trace {...props} /> : <Explorer {...props} />;
}

function Explorer({ source }: SourceTabProps) {
  const { query } = useLocation();
  const asked = filterIn(query);
  const { source_id: sourceId } = source;
  const path = `/app/api/sources/${sourceId}/sample-facets`;
  const labelled = asked.metric === everyMetric ? '' : asked.metric;
  const read = useRead(
    `facets ${path} ${labelled}`,
    (signal) => get<typeof readFacets>(path, { metric: labelled }, signal),
    facetsPollMs,
  );
  const data = useKept(read);
  const { error } = read;
  const metric = asked.metric || data?.metric;
  if (data?.metrics.length === 0) return <NoSamples source={source} />;
  if (!metric) return <ReadFailure error={error} kept={false} />;
  const filter = { ...asked, metric };
  return (
    <>
      <ReadFailure error={error} kept={data !== null} />
      {data && <FilterForm sourceId={sourceId} filter={filter} facets={data} />}
      <Export source={source} filter={filter} facets={data} />
      {metric === everyMetric ? (
        <p class="quiet">Choose one metric to see it drawn.</p>
      ) : (
        <SeriesChart sourceId={sourceId} filter={filter} facets={data} />
      )}
      <SampleTable sourceId={sourceId} filter={filter} />
    </>
  );
}

function NoSamples({ source }: Pick<SourceTabProps, 'source'>) {
  const { source_id: sourceId } = source;
  return (
    <p>
      There are no samples yet. They appear when a delivery is parsed:{' '}
      <a href={`/sources/${sourceId}/developer`}>send the first one</a>, or see what became of{' '}
      <a href={`/sources/${sourceId}/deliveries`}>those that came</a>.
    </p>
  );
}

interface ExportProps {
  readonly source: SourceTabProps['source'];
  readonly filter: SamplesFilter;
  readonly facets: Facets | null;
}

function Export({ source, filter, facets }: ExportProps) {
  const path = `/app/api/sources/${source.source_id}/samples.csv`;
  const chosen = facets?.metrics.find(({ key }) => key === filter.metric);
  return (
    <div class="row">
      <a class="button" href={address(path, asQuery(filter))} download={`${source.name}.csv`}>
        Export CSV
      </a>
      {chosen && (
        <span class="quiet">
          {chosen.key} has samples from {chosen.first_day} to {chosen.last_day}
          {chosen.has_sandbox && ', some of them of the sandbox'}
        </span>
      )}
      {filter.after && <a href={pageAddress(source.source_id, filter)}>Back to the newest</a>}
    </div>
  );
}
