import { Notice } from './notice.tsx';

/** A failed read: what is wrong, and what the page shows all the same. */
export function ReadFailure({ error, kept }: { error: Error | null; kept: boolean }) {
  if (!error) return null;
  return (
    <Notice kind="error">
      {error.message}
      {kept && ' What you see is what was read before; it is asked for again by itself.'}
    </Notice>
  );
}
