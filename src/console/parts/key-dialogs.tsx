import { useState } from 'preact/hooks';
import type { revokeKey, rotateKey } from '../../domain/api/app/keys.ts';
import { post } from '../api.ts';
import { useAct } from '../use-act.ts';
import { type Key, shortId } from './access-keys.tsx';
import { Dialog } from './dialog.tsx';
import { Failure } from './notice.tsx';

interface DialogProps {
  readonly target: Key;
  close(): void;
  /** Gets the new key's text, where one was made. */
  done(text: string | null): void;
}

/** Makes the key that takes the place of another. */
export function RotateKey({ target, close, done }: DialogProps) {
  const [days, setDays] = useState(7);
  const act = useAct(async () => {
    const address = `/app/api/keys/${target.key_id}/rotate`;
    done((await post<typeof rotateKey>(address, { overlap_days: days })).access_key);
  });
  return (
    <Dialog title={`Rotate key ${shortId(target)}`} close={close}>
      <form onSubmit={act.submit}>
        <p>
          A new key with the same scope is made and shown once; it works for a year. Both work
          during the overlap, then the old one stops.
        </p>
        <label>
          Overlap in days
          <input
            type="number"
            min={0}
            max={36_500}
            required
            value={days}
            onInput={(event) => setDays(event.currentTarget.valueAsNumber)}
          />
          <span class="quiet">0: the old key stops now</span>
        </label>
        <Failure error={act.error} />
        <div class="row">
          <button type="submit" class="primary" aria-disabled={act.busy}>
            Make the new key
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

export function RevokeKey({ target, close, done }: DialogProps) {
  const act = useAct(async () => {
    await post<typeof revokeKey>(`/app/api/keys/${target.key_id}/revoke`, undefined);
    done(null);
  });
  return (
    <Dialog title={`Revoke key ${shortId(target)}`} close={close}>
      <p>Whatever still uses this key is refused from its next request on. It cannot be undone.</p>
      <Failure error={act.error} />
      <div class="row">
        <button type="button" class="danger" onClick={act.run} aria-disabled={act.busy}>
          Revoke it
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
