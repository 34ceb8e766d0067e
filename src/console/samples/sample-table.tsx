import type { listSamples } from '../../domain/api/app/samples.ts';
import { get } from '../api.ts';
import { SandboxBadge } from '../parts/marks.tsx';
import { Scroll } from '../parts/scroll.tsx';
import { ReadFailure } from '../parts/stale.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { useRead } from '../use-read.ts';
import {
  asQuery,
  everyMetric,
  labelsTold,
  pageAddress,
  type SamplesFilter,
  traceAddress,
} from './filter.ts';
import { useKept } from './use-kept.ts';

const pollMs = 10_000;

/** Exact values, in the order of the API, page by page. */
export function SampleTable(props: { sourceId: string; filter: SamplesFilter }) {
  const { sourceId, filter } = props;
  const path = `/app/api/sources/${sourceId}/samples`;
  const query = { ...asQuery(filter), after: filter.after };
  const read = useRead(
    `samples ${path} ${JSON.stringify(query)}`,
    (signal) => get<typeof listSamples>(path, query, signal),
    pollMs,
  );
  const data = useKept(read);
  const { error } = read;
  const every = filter.metric === everyMetric;
  return (
    <section class="values" aria-label="Values">
      <h2>Values</h2>
      <ReadFailure error={error} kept={data !== null} />
      {data?.samples.length === 0 && <Nothing sourceId={sourceId} filter={filter} />}
      {data && data.samples.length > 0 && (
        <Scroll label="Table of values">
          <table>
            <TableHead
              columns={[
                'Period from',
                ...(every ? ['Metric'] : []),
                'Labels',
                { figures: 'Value' },
                'Delivery',
              ]}
            />
            <tbody>
              {data.samples.map((sample) => (
                <tr key={traceAddress(sourceId, sample)}>
                  <td class="short">{sample.period_start}</td>
                  {every && <td>{sample.metric}</td>}
                  <td>
                    {labelsTold(sample.labels)} {sample.sandbox && <SandboxBadge />}
                  </td>
                  <td class="number">
                    <a href={traceAddress(sourceId, sample)}>{sample.value}</a>
                  </td>
                  <td class="short">
                    <a
                      href={`/sources/${sourceId}/deliveries/${sample.artifact_id}`}
                      aria-label={`Delivery ${sample.artifact_id}`}
                    >
                      <code>{sample.artifact_id.slice(-12)}</code>
                    </a>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </Scroll>
      )}
      <nav class="row" aria-label="Pages">
        {filter.after && (
          <a class="button" href={pageAddress(sourceId, filter)}>
            Newest
          </a>
        )}
        {data?.next && (
          <a class="button" href={pageAddress(sourceId, filter, { after: data.next })}>
            Older
          </a>
        )}
      </nav>
    </section>
  );
}

function Nothing({ sourceId, filter }: { sourceId: string; filter: SamplesFilter }) {
  const { metric } = filter;
  const all = pageAddress(sourceId, { ...filter, from: '', to: '', labels: {} }, { metric });
  return (
    <p>
      No sample is like that. <a href={all}>Show all days and labels</a>
    </p>
  );
}
