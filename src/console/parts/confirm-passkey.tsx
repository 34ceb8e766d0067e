import type { confirm, confirmOptions } from '../../domain/api/app/session.ts';
import { post } from '../api.ts';
import { checkPasskey } from '../passkeys.ts';
import { useSession } from '../session.tsx';
import { Dialog } from './dialog.tsx';
import { Notice } from './notice.tsx';
import { usePasskey } from './use-passkey.ts';

/** Asks for the passkey in place, over the page on which something waits for it. */
export function ConfirmPasskey({ done }: { done(confirmed: boolean): void }) {
  const { set } = useSession();
  const { busy, problem, start } = usePasskey(async () => {
    const options = await post<typeof confirmOptions>('/app/api/confirm/options', undefined);
    const passkey = await checkPasskey(options);
    set(await post<typeof confirm>('/app/api/confirm', { passkey }));
    done(true);
  });
  return (
    <Dialog title="Check your passkey" close={() => done(false)}>
      <p>
        Keys and secrets need a check of your passkey in the last five minutes. Nothing you typed is
        lost.
      </p>
      {problem && <Notice kind="error">{problem}</Notice>}
      <div class="row">
        <button type="button" class="primary" aria-disabled={busy} onClick={start}>
          Check passkey
        </button>
        <button type="button" onClick={() => done(false)}>
          Cancel
        </button>
      </div>
    </Dialog>
  );
}
