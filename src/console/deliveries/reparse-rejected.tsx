import { useState } from 'preact/hooks';
import type { reparseRejected } from '../../domain/api/app/deliveries.ts';
import { post } from '../api.ts';
import { Dialog } from '../parts/dialog.tsx';
import { Failure, Notice } from '../parts/notice.tsx';
import { count } from '../parts/numbers.ts';
import { useAct } from '../use-act.ts';

interface Props {
  readonly sourceId: string;
  /** The current one, under which they are parsed. */
  readonly version: number;
  done(): void;
}

/** Has all rejected deliveries of the source parsed again, once that was confirmed. */
export function ReparseRejected({ sourceId, version, done }: Props) {
  const [asking, setAsking] = useState(false);
  const [begun, setBegun] = useState<number | null>(null);
  const { busy, error, run } = useAct(async () => {
    const path = `/app/api/sources/${sourceId}/reparse-rejected`;
    setBegun((await post<typeof reparseRejected>(path, {})).deliveries);
    setAsking(false);
    done();
  });
  return (
    <>
      <p>
        <button type="button" onClick={() => setAsking(true)}>
          Parse rejected ones again
        </button>
      </p>
      {begun !== null && (
        <Notice kind="good">
          {begun === 1 ? 'One delivery is' : `${count(begun)} deliveries are`} parsed again under
          version {version}.
        </Notice>
      )}
      {asking && (
        <Dialog title="Parse all rejected deliveries again" close={() => setAsking(false)}>
          <p>
            All deliveries of this source that were rejected as a whole, or of which no record was
            good, are parsed again under the current version {version}. They keep their place in the
            accepted order: a newer delivery still wins.
          </p>
          <Failure error={error} />
          <div class="row">
            <button type="button" class="primary" aria-disabled={busy} onClick={run}>
              Parse again
            </button>
            <button type="button" onClick={() => setAsking(false)}>
              Cancel
            </button>
          </div>
        </Dialog>
      )}
    </>
  );
}
