import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import type { listMetrics } from '../../domain/api/app/metrics.ts';
import type { createSource } from '../../domain/api/app/sources.ts';
import type { Metric } from '../../domain/nouns.ts';
import { get, post } from '../api.ts';
import { emptyField } from '../edit-shape.ts';
import { Failure } from '../parts/notice.tsx';
import { ShownOnce } from '../parts/shown-once.tsx';
import { bodyOf, type EditedSource, pointAtProblem, SourceFields } from '../parts/source-form.tsx';
import { mayManage, useSignedIn } from '../session.tsx';
import { useAct } from '../use-act.ts';
import { useRead } from '../use-read.ts';

function begun(): EditedSource {
  const period = { ...emptyField(), name: 'day', role: 'period' } as const;
  const value = { ...emptyField(), name: 'amount', role: 'value' } as const;
  return { name: '', delivery: 'push', format: 'csv', fields: [period, value] };
}

/** Where there is one metric only, it is the one that is meant. */
function withSoleMetric(source: EditedSource, metrics: readonly Metric[] = []): EditedSource {
  const [sole, other] = metrics;
  if (!sole || other) return source;
  const fields = source.fields.map((field) =>
    field.role === 'value' ? { ...field, metric: sole.key } : field,
  );
  return { ...source, fields };
}

/** Makes a source with its first version. */
export default function NewSource() {
  const manages = mayManage(useSignedIn());
  const { route } = useLocation();
  const [edited, setSource] = useState(begun);
  const [untouched, setUntouched] = useState(true);
  const [made, setMade] = useState<{ id: string; secret: string } | null>(null);
  const { data, error } = useRead('metrics', (signal) =>
    get<typeof listMetrics>('/app/api/metrics', {}, signal),
  );
  const source = untouched ? withSoleMetric(edited, data?.metrics) : edited;
  const act = useAct(async () => {
    setUntouched(false);
    setSource(source);
    if (pointAtProblem(source, data!.metrics)) return;
    const answer = await post<typeof createSource>('/app/api/sources', bodyOf(source));
    const { source_id: id, signing_secret: secret } = answer;
    if (secret === undefined) route(`/sources/${id}/developer`);
    else setMade({ id, secret });
  });
  if (!manages) {
    return (
      <>
        <h1>New source</h1>
        <p>Making a source needs the permission sources.manage.</p>
      </>
    );
  }
  if (made) {
    const developer = `/sources/${made.id}/developer`;
    return (
      <>
        <h1>{source.name}</h1>
        <p>The webhook source is there. Its sender signs with this secret.</p>
        <ShownOnce what="signing secret" text={made.secret} dismiss={() => route(developer)} />
      </>
    );
  }
  return (
    <>
      <p class="crumbs">
        <a href="/sources">Sources</a>
      </p>
      <h1>New source</h1>
      <Failure error={error} />
      {data && (
        <form onSubmit={act.submit}>
          <SourceFields
            {...{ source, untouched }}
            metrics={data.metrics}
            set={(changed) => {
              setSource(changed);
              if (changed.fields !== source.fields) setUntouched(false);
            }}
          />
          <Failure error={act.error} />
          <p>
            <button type="submit" class="primary" aria-disabled={act.busy}>
              Create source
            </button>
          </p>
        </form>
      )}
    </>
  );
}
