import { useState } from 'preact/hooks';
import type { reparse, tryReparse } from '../../domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import { post } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure } from '../parts/notice.tsx';
import { count } from '../parts/numbers.ts';
import { useAct } from '../use-act.ts';
import type { DeliveryOfPage } from './facts.tsx';

type Tried = AnswerOf<typeof tryReparse>;

interface Props {
  readonly delivery: DeliveryOfPage;
  /** The source's current shape version. */
  readonly current: number;
  close(): void;
  begun(): void;
}

/** Parsing one delivery again: what it would change first, and then for good. */
export function ReparseDialog({ delivery, current, close, begun }: Props) {
  const [version, setVersion] = useState(() => likelyVersion(delivery, current));
  const [tried, setTried] = useState<Tried | null>(null);
  const api = `/app/api/deliveries/${delivery.artifact_id}`;
  const body = { shape_version: version };
  const trying = useAct(async () => {
    setTried(await post<typeof tryReparse>(`${api}/dry-run`, body));
  });
  const doing = useAct(async () => {
    await post<typeof reparse>(`${api}/reparse`, body);
    begun();
    close();
  });
  const busy = trying.busy || doing.busy;
  const choose = (chosen: string) => {
    setVersion(Number(chosen));
    setTried(null);
  };
  return (
    <Dialog title="Parse this delivery again" close={close}>
      <p>
        It keeps its place in the accepted order. What it gives now stays readable until the new
        parse is complete; samples that it no longer gives disappear then.
      </p>
      <label>
        Shape version
        <select
          value={String(version)}
          onChange={(event) => choose(event.currentTarget.value)}
          disabled={busy}
        >
          {versionsFor(delivery, current).map((one) => (
            <option key={one} value={String(one)}>
              {nameOf(one, delivery, current)}
            </option>
          ))}
        </select>
      </label>
      {tried && <WouldBe tried={tried} />}
      <Failure error={doing.error ?? trying.error} />
      <div class="row">
        <button
          type="button"
          class={tried ? '' : 'primary'}
          aria-disabled={busy}
          onClick={trying.run}
        >
          Show what would change
        </button>
        <button
          type="button"
          class={tried ? 'primary' : ''}
          aria-disabled={busy}
          onClick={doing.run}
        >
          Parse again under version {version}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}

/** What was rejected is mostly parsed again since the shape was corrected. */
function likelyVersion(delivery: DeliveryOfPage, current: number): number {
  const rejected = delivery.refusal !== null || (delivery.counts?.rejected ?? 0) > 0;
  return rejected ? current : delivery.reparse_version;
}

/** The newest are the ones that anybody chooses; the delivery's own is always there. */
const versionsMax = 50;

function versionsFor(
  { shape_version: own, reparse_version: again }: DeliveryOfPage,
  current: number,
) {
  const newest = Array.from({ length: Math.min(current, versionsMax) }, (_, i) => current - i);
  return [...new Set([...newest, own, again])];
}

function nameOf(version: number, { shape_version: own }: DeliveryOfPage, current: number): string {
  const notes = [version === current && 'current', version === own && 'as it is parsed now'];
  const told = notes.filter(Boolean).join(', ');
  return told === '' ? String(version) : `${version} (${told})`;
}

/** What a dry run found; nothing of it has been done. */
function WouldBe({ tried }: { tried: Tried }) {
  const { samples, refusal, rejections } = tried;
  return (
    <section role="status" aria-label="What would change">
      <h3>Under version {tried.shape_version}</h3>
      {refusal ? (
        <p>
          It would be rejected as a whole: {refusal.field && <code>{refusal.field}</code>}{' '}
          {refusal.message} <span class="quiet">({refusal.code})</span>
        </p>
      ) : (
        <p>
          {count(tried.parsed)} of {count(tried.records)} records would be good and{' '}
          {count(tried.rejected)} rejected, {count(tried.newly_rejected)} of which{' '}
          {tried.newly_rejected === 1 ? 'is' : 'are'} not rejected now.
        </p>
      )}
      <p>
        Samples: {count(samples.added)} new, {count(samples.changed)} with another value,{' '}
        {count(samples.gone)} gone.
      </p>
      {rejections.length > 0 && (
        <ul>
          {rejections.map(({ record, line, field, code, message }) => (
            <li key={`${record} ${field} ${code}`}>
              Record {record}
              {line !== null && `, line ${line}`}: {field && <code>{field}</code>} {message}
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
