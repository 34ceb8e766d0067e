import './deliveries.css';
import { useRef, useState } from 'preact/hooks';
import { lazy, useLocation } from 'preact-iso';
import type { listDeliveries } from '../../domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import { get } from '../api.ts';
import { DeliveryTable } from '../deliveries/delivery-table.tsx';
import { asQuery, filterIn, type ListFilter, listAddress, narrows } from '../deliveries/filter.ts';
import { FilterForm } from '../deliveries/filter-form.tsx';
import { type LiveRows, liveRows } from '../deliveries/live-rows.ts';
import { ReparseRejected } from '../deliveries/reparse-rejected.tsx';
import { StatusLinks } from '../deliveries/status-links.tsx';
import { Notice } from '../parts/notice.tsx';
import { ReadFailure } from '../parts/stale.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import type { SourceTabProps } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';

const Delivery = lazy(() => import('./delivery.tsx'));

const pollMs = 2_000;

/** What came in for a source, and by its artifact id a single delivery. */
export default function Deliveries(props: SourceTabProps) {
  const { query } = useLocation();
  const sent = useRef(false);
  const [artifactId] = props.rest.split('/');
  if (artifactId) return <Delivery {...props} key={artifactId} artifactId={artifactId} />;
  const filter = filterIn(query);
  // Another filter is another list: nothing of the one before is kept.
  return <List {...props} key={JSON.stringify(filter)} {...{ filter, sent }} />;
}

interface ListProps extends SourceTabProps {
  readonly filter: ListFilter;
  /** The filter was sent by its form. */
  readonly sent: { current: boolean };
}

function List({ source, filter, sent }: ListProps) {
  const session = useSignedIn();
  const { source_id: sourceId, shape_version: version } = source;
  const table = useRef<HTMLElement>(null);
  const path = `/app/api/sources/${sourceId}/deliveries`;
  const { data, error, again } = useRead(
    `deliveries ${path} ${JSON.stringify(filter)}`,
    (signal) => get<typeof listDeliveries>(path, asQuery(filter), signal),
    pollMs,
  );
  const { live, showAll } = useLive(data, table);
  return (
    <>
      <StatusLinks sourceId={sourceId} filter={filter} counts={data?.counts ?? null} />
      <FilterForm {...{ sourceId, filter, sent }} />
      <ReadFailure error={error} kept={data !== null} />
      {data?.keys_cut && (
        <Notice kind="plain">
          Very many keys begin so; only the first of them are looked at. Type more of the key.
        </Notice>
      )}
      {live && live.waiting > 0 && (
        <p class="waiting" role="status">
          <button type="button" onClick={showAll}>
            Show {live.waiting} new
          </button>
        </p>
      )}
      {live && live.rows.length > 0 && (
        <DeliveryTable sourceId={sourceId} live={live} table={table} />
      )}
      {live?.rows.length === 0 && <Nothing source={source} filter={filter} />}
      <nav class="row" aria-label="Pages">
        {filter.before && (
          <a href={listAddress(sourceId, filter, { before: '' })} class="button">
            Newest
          </a>
        )}
        {data?.next && (
          <a href={listAddress(sourceId, filter, { before: data.next })} class="button">
            Older
          </a>
        )}
      </nav>
      {mayManage(session) && (data?.counts.rejected ?? 0) > 0 && (
        <ReparseRejected sourceId={sourceId} version={version} done={again} />
      )}
    </>
  );
}

type Answer = AnswerOf<typeof listDeliveries>;

/** Rows as they are shown; taken in once for each answer. */
function useLive(data: Answer | null, table: { readonly current: HTMLElement | null }) {
  const [, redraw] = useState(0);
  const taken = useRef<Answer | null>(null);
  const live = useRef<LiveRows | null>(null);
  if (data !== null && data !== taken.current) {
    const full = data.next !== null;
    const mayMove = !isRead(table.current);
    live.current = liveRows(live.current, data.deliveries, { full, mayMove });
    taken.current = data;
  }
  const showAll = () => {
    if (taken.current === null) return;
    live.current = liveRows(null, taken.current.deliveries, { full: false, mayMove: true });
    redraw((before) => before + 1);
  };
  return { live: live.current, showAll };
}

/** Somebody points at the table, has gone into it by keys, or has scrolled to it. */
function isRead(table: HTMLElement | null): boolean {
  if (table === null) return false;
  const scrolled = window.scrollY > 0 && table.getBoundingClientRect().top < 0;
  return scrolled || table.matches(':hover') || table.contains(document.activeElement);
}

function Nothing({ source, filter }: { source: SourceTabProps['source']; filter: ListFilter }) {
  if (narrows(filter) || filter.before) {
    return (
      <p>
        No delivery is like that.{' '}
        <a href={`/sources/${source.source_id}/deliveries`}>Show all deliveries</a>
      </p>
    );
  }
  return (
    <p>
      Nothing has come in yet. The{' '}
      <a href={`/sources/${source.source_id}/developer`}>developer page</a> of this source has
      {source.delivery === 'webhook' ? ' its address and commands' : ' its keys and commands'} to
      send a first delivery with.
    </p>
  );
}
