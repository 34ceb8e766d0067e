import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { listSources } from '../../domain/api/app/sources.ts';
import { get } from '../api.ts';
import { Failure } from '../parts/notice.tsx';
import { count } from '../parts/numbers.ts';
import { Scroll } from '../parts/scroll.tsx';
import { TableHead } from '../parts/table-head.tsx';
import { Time } from '../parts/time.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import { useRead } from '../use-read.ts';

type Summary = AnswerOf<typeof listSources>['sources'][number];

const everyMs = 5_000;

/** All sources of the company: what came last, what waits, what was rejected. */
export default function Sources() {
  const manages = mayManage(useSignedIn());
  const { data, error } = useRead(
    'sources',
    (signal) => get<typeof listSources>('/app/api/sources', {}, signal),
    everyMs,
  );
  return (
    <>
      <h1>Sources</h1>
      <p class="quiet">A source is one system that sends numbers.</p>
      {manages && (
        <p>
          <a class="button primary" href="/sources/new">
            New source
          </a>
        </p>
      )}
      <Failure error={error} />
      {data?.sources.length === 0 && <NoSource manages={manages} />}
      {data && data.sources.length > 0 && <SourceTable sources={data.sources} />}
    </>
  );
}

function NoSource({ manages }: { manages: boolean }) {
  if (!manages) return <p>There is no source yet. Who manages sources can make the first.</p>;
  return (
    <p>
      There is no source yet. Declare the <a href="/metrics">metrics</a> that it will send first,
      then make the source.
    </p>
  );
}

function SourceTable({ sources }: { sources: readonly Summary[] }) {
  return (
    <Scroll label="Sources">
      <table>
        <TableHead
          columns={[
            'Name',
            'Way',
            { figures: 'Version' },
            'Last delivery',
            { figures: 'Backlog' },
            'Rejected in 24 h',
          ]}
        />
        <tbody>
          {sources.map((source) => (
            <SourceRow key={source.source_id} source={source} />
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function SourceRow({ source }: { source: Summary }) {
  const { source_id: id, last_delivery: last } = source;
  return (
    <tr>
      <td>
        <a href={`/sources/${id}`}>{source.name}</a>
      </td>
      <td class="short">{source.delivery}</td>
      <td class="number">
        <a href={`/sources/${id}/shape`}>{source.shape_version}</a>
      </td>
      <td class="short">
        <Time at={last?.received_at ?? null} />{' '}
        {last?.sandbox && <span class="badge sandbox">sandbox</span>}
      </td>
      <td class="number">
        {count(source.backlog)}
        {source.backlog_cut && ' or more'}
      </td>
      <td>
        <Rejected {...source.rejected_24h} />
        {hasAny(source.rejected_sandbox_24h) && (
          <div>
            <span class="badge sandbox">sandbox</span> <Rejected {...source.rejected_sandbox_24h} />
          </div>
        )}
      </td>
    </tr>
  );
}

const hasAny = ({ records, deliveries }: Summary['rejected_24h']) => records + deliveries > 0;

function Rejected({ records, deliveries }: Summary['rejected_24h']) {
  if (records + deliveries === 0) return <span class="quiet">none</span>;
  return (
    <span class="badge bad">
      {count(records)} {records === 1 ? 'record' : 'records'}
      {deliveries > 0 && `, ${count(deliveries)} ${deliveries === 1 ? 'delivery' : 'deliveries'}`}
    </span>
  );
}
