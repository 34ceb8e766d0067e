import type { ComponentChildren } from 'preact';

/** What went wrong, or went well, said aloud to who cannot see it. */
export function Notice(props: { kind: 'error' | 'good' | 'plain'; children: ComponentChildren }) {
  const { kind, children } = props;
  return (
    <div class={`notice ${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {children}
    </div>
  );
}

/** A failed read or change, or nothing. */
export function Failure({ error }: { error: Error | null }) {
  return error ? <Notice kind="error">{error.message}</Notice> : null;
}
