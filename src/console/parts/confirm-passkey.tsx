import { Dialog } from './dialog.tsx';

/** Filled by the passkeys' part. */
export function ConfirmPasskey({ done }: { done(confirmed: boolean): void }) {
  return (
    <Dialog title="Check your passkey" close={() => done(false)}>
      <button type="button" onClick={() => done(false)}>
        Cancel
      </button>
    </Dialog>
  );
}
