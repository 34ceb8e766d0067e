import { useState } from 'preact/hooks';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { tryShape } from '../../domain/api/app/sources.ts';
import type { Metric } from '../../domain/nouns.ts';
import { post } from '../api.ts';
import type { SourceOfPage } from '../source-of-page.ts';
import { useAct } from '../use-act.ts';
import { Failure } from './notice.tsx';
import { count } from './numbers.ts';
import { Scroll } from './scroll.tsx';
import { bodyOf, type EditedSource, pointAtProblem } from './source-form.tsx';
import { TableHead } from './table-head.tsx';
import { Time } from './time.tsx';

type Delivery = AnswerOf<typeof tryShape>['deliveries'][number];
type Tried = NonNullable<Delivery['tried']>;

const choices = [1, 5, 10, 20];

const leftOut = {
  too_large: 'too large to be tried here; weir reparse --dry-run tries it',
  no_time: 'no time was left',
  unreadable: 'its bytes could not be read',
  damaged: 'its stored bytes are damaged',
  crashed: 'the parser crashed on it or took too long',
} as const;

interface DryRunProps {
  readonly source: SourceOfPage;
  readonly edited: EditedSource;
  readonly metrics: readonly Metric[];
}

/** Tries what is typed on the newest stored deliveries, before it is saved. */
export function DryRun({ source, edited, metrics }: DryRunProps) {
  const [many, setMany] = useState(5);
  const [result, setResult] = useState<{ of: string; deliveries: readonly Delivery[] } | null>(
    null,
  );
  const { fields, format } = bodyOf(edited);
  const of = JSON.stringify([fields, format]);
  const act = useAct(async () => {
    if (pointAtProblem(edited, metrics)) return;
    const body = { fields, format, deliveries: many };
    const address = `/app/api/sources/${source.source_id}/dry-run`;
    setResult({ of, deliveries: (await post<typeof tryShape>(address, body)).deliveries });
  });
  return (
    <fieldset>
      <legend>Try it before saving</legend>
      <div class="row">
        <label>
          Newest deliveries
          <select value={many} onChange={(event) => setMany(Number(event.currentTarget.value))}>
            {choices.map((choice) => (
              <option key={choice}>{choice}</option>
            ))}
          </select>
        </label>
        <button type="button" onClick={act.run} aria-disabled={act.busy}>
          {act.busy ? 'Trying…' : 'Dry run'}
        </button>
        <span class="quiet">Parses stored deliveries with these fields; nothing is written.</span>
      </div>
      <Failure error={act.error} />
      {result && result.of !== of && <p class="quiet">The fields were changed since this run.</p>}
      {result && <Results source={source} deliveries={result.deliveries} />}
    </fieldset>
  );
}

function Results(props: { source: SourceOfPage; deliveries: readonly Delivery[] }) {
  const { source, deliveries } = props;
  if (deliveries.length === 0) return <p>No delivery is stored yet.</p>;
  return (
    <Scroll label="Dry run">
      <table>
        <TableHead
          columns={[
            'Delivery',
            'Received',
            'Now',
            { figures: 'Records' },
            { figures: 'Rejected' },
            'Samples',
            'First rejections',
          ]}
        />
        <tbody>
          {deliveries.map((one) => (
            <tr key={one.artifact_id}>
              <td>
                <a href={`/sources/${source.source_id}/deliveries/${one.artifact_id}`}>
                  {one.idempotency_key}
                </a>{' '}
                {one.sandbox && <span class="badge sandbox">sandbox</span>}
              </td>
              <td class="short">
                <Time at={one.received_at} />
              </td>
              <td>{one.status}</td>
              {one.tried ? (
                <TriedCells {...one.tried} />
              ) : (
                <td colSpan={4}>Not tried: {leftOut[one.left_out!]}.</td>
              )}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function TriedCells(tried: Tried) {
  const { added, changed, gone } = tried.samples;
  const parts = [
    [added, 'new'],
    [changed, 'changed'],
    [gone, 'gone'],
  ] as const;
  const told = parts.filter(([n]) => n > 0).map(([n, what]) => `${count(n)} ${what}`);
  return (
    <>
      <td class="number">{count(tried.records)}</td>
      <td class="number">
        {count(tried.rejected)}{' '}
        {tried.newly_rejected > 0 && (
          <span class="badge bad">{count(tried.newly_rejected)} more than now</span>
        )}
      </td>
      <td>{told.join(', ') || <span class="quiet">as they are</span>}</td>
      <td>
        {tried.refusal && <div>The whole delivery: {tried.refusal.message}</div>}
        {tried.rejections.map((one) => (
          <div key={`${one.record} ${one.field} ${one.code}`}>
            Record {one.record}
            {one.field !== null && `, ${one.field}`}: {one.message}
          </div>
        ))}
      </td>
    </>
  );
}
