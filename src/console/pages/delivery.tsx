import './deliveries.css';
import { useEffect, useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { readDelivery } from '../../domain/api/app/deliveries.ts';
import { get } from '../api.ts';
import { Download } from '../deliveries/download.tsx';
import { Conflicts, Counts, type DeliveryOfPage, Facts } from '../deliveries/facts.tsx';
import { RejectedRecords } from '../deliveries/rejected-records.tsx';
import { ReparseDialog } from '../deliveries/reparse-dialog.tsx';
import { damageText, SandboxBadge, StatusBadge } from '../parts/marks.tsx';
import { Notice } from '../parts/notice.tsx';
import { ReadFailure } from '../parts/stale.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import type { SourceTabProps } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';

const pollMs = 2_000;

/** One delivery: all that is known of it, and what can be done with it. */
export default function Delivery({ source, artifactId }: SourceTabProps & { artifactId: string }) {
  const session = useSignedIn();
  const [asking, setAsking] = useState(false);
  const { route } = useLocation();
  const path = `/app/api/deliveries/${artifactId}`;
  const { data, error, again } = useRead(
    `delivery ${artifactId}`,
    (signal) => get<typeof readDelivery>(path, {}, signal),
    pollMs,
  );
  // An artifact id may have been asked for among the deliveries of another source.
  const elsewhere = data !== null && data.source_id !== source.source_id;
  useEffect(() => {
    if (elsewhere) route(`/sources/${data.source_id}/deliveries/${artifactId}`, true);
  }, [elsewhere, data?.source_id, artifactId, route]);
  return (
    <>
      <p class="crumbs">
        <a href={`/sources/${source.source_id}/deliveries`}>All deliveries of this source</a>
      </p>
      <ReadFailure error={error} kept={data !== null} />
      {data && !elsewhere && (
        <>
          <h2>
            Delivery {data.idempotency_key} <StatusBadge status={data.status} />{' '}
            {data.sandbox && <SandboxBadge />}
          </h2>
          <States delivery={data} sourceId={source.source_id} />
          {mayManage(session) && (
            <div class="row">
              <button type="button" disabled={isUnderWay(data)} onClick={() => setAsking(true)}>
                Parse again…
              </button>
              <Download artifactId={artifactId} />
            </div>
          )}
          {asking && (
            <ReparseDialog
              delivery={data}
              current={source.shape_version}
              close={() => setAsking(false)}
              begun={again}
            />
          )}
          <Facts delivery={data} />
          {data.counts && data.refusal === null && <Counts counts={data.counts} />}
          <Undeclared delivery={data} sourceId={source.source_id} />
          <RejectedRecords delivery={data} />
          <Conflicts conflicts={data.conflicts} />
        </>
      )}
    </>
  );
}

function isUnderWay({ status }: DeliveryOfPage): boolean {
  return status === 'queued' || status === 'parsing';
}

/** What is to be known before anything else. */
function States({ delivery, sourceId }: { delivery: DeliveryOfPage; sourceId: string }) {
  const { waits_for: next, damage, refusal } = delivery;
  return (
    <>
      {damage && (
        <Notice kind="error">
          {damageText[damage]} Restore the object from a copy of the store.
        </Notice>
      )}
      {refusal && (
        <Notice kind="error">
          It was rejected as a whole: {refusal.field && <code>{refusal.field}</code>}{' '}
          {refusal.message} ({refusal.code}
          {refusal.line !== null && `, line ${refusal.line}`})
        </Notice>
      )}
      {next ? (
        <Notice kind="plain">
          It is being parsed again, under version {next.shape_version}. Until that is complete, what
          stands stays readable.
        </Notice>
      ) : (
        isUnderWay(delivery) && (
          <Notice kind="plain">It is stored, and waits to be parsed. Nothing is lost.</Notice>
        )
      )}
      {(delivery.counts?.rejected ?? 0) > 0 && (
        <p>
          <a href="#rejected">Why records were rejected</a>
        </p>
      )}
      {delivery.status === 'parsed' && (
        <p>
          <a href={`/sources/${sourceId}/samples`}>The samples of this source</a>
        </p>
      )}
    </>
  );
}

function Undeclared({ delivery, sourceId }: { delivery: DeliveryOfPage; sourceId: string }) {
  const { undeclared_fields: names } = delivery;
  const shape = `/sources/${sourceId}/shape`;
  if (names.length === 0) return null;
  return (
    <>
      <h2>Undeclared fields</h2>
      <p>
        The <a href={shape}>shape</a> does not declare them, so they are in no sample:{' '}
        {names.map((name) => (
          <code key={name}>{name} </code>
        ))}
      </p>
    </>
  );
}
