import { useState } from 'preact/hooks';
import type { listMetrics } from '../../domain/api/app/metrics.ts';
import { get } from '../api.ts';
import { Failure, Notice } from '../parts/notice.tsx';
import { count } from '../parts/numbers.ts';
import { FieldTable } from '../parts/shape-compare.tsx';
import { ShapeVersions } from '../parts/shape-versions.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { type Saved, SourceEditor } from '../parts/source-editor.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import type { SourceTabProps } from '../source-of-page.ts';
import { useRead } from '../use-read.ts';

/** The shape of a source: edited, tried on stored deliveries, saved; and its versions compared. */
export default function Shape(props: SourceTabProps) {
  const { source, rest } = props;
  const address = `/sources/${source.source_id}/shape`;
  const old = rest === 'versions';
  return (
    <>
      <nav class="row shape-views" aria-label="Shape">
        <a href={address} aria-current={old ? undefined : 'page'}>
          Current: version {source.shape_version}
        </a>
        <a href={`${address}/versions`} aria-current={old ? 'page' : undefined}>
          Versions side by side
        </a>
      </nav>
      {old ? <ShapeVersions source={source} /> : <CurrentShape {...props} />}
    </>
  );
}

function CurrentShape({ source, refresh }: SourceTabProps) {
  const manages = mayManage(useSignedIn());
  const [saved, setSaved] = useState<Saved | null>(null);
  const { data, error } = useRead('metrics', (signal) =>
    get<typeof listMetrics>('/app/api/metrics', {}, signal),
  );
  if (!manages) {
    return (
      <>
        <h2>Fields</h2>
        <FieldTable fields={source.fields} />
      </>
    );
  }
  const done = (answer: Saved) => {
    setSaved(answer);
    refresh();
  };
  return (
    <>
      <Failure error={error} />
      {saved && <SavedNotice {...{ saved, source }} dismiss={() => setSaved(null)} />}
      {data && (
        // A new version begins the editor anew; until then nothing touches what was typed.
        <SourceEditor
          key={source.shape_version}
          {...{ source, refresh }}
          metrics={data.metrics}
          done={done}
        />
      )}
    </>
  );
}

function SavedNotice(props: Pick<SourceTabProps, 'source'> & { saved: Saved; dismiss(): void }) {
  const { saved, source, dismiss } = props;
  const { signing_secret: secret, withdrawn } = saved;
  return (
    <>
      <Notice kind="good">
        Version {saved.shape_version} is saved. Deliveries that name it, and webhooks, are parsed
        under it from now on. To parse those that are stored, go to the{' '}
        <a href={`/sources/${source.source_id}/deliveries`}>deliveries</a>.
        {withdrawn && (
          <p>
            The samples of {count(withdrawn.deliveries)}{' '}
            {withdrawn.deliveries === 1 ? 'delivery' : 'deliveries'} are withdrawn
            {withdrawn.waiting > 0 && `, ${count(withdrawn.waiting)} of them in a moment`}.
          </p>
        )}
      </Notice>
      {secret !== undefined && <ShownOnce what="signing secret" text={secret} dismiss={dismiss} />}
    </>
  );
}
