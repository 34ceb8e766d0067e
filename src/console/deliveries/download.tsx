import { Refused } from '../api.ts';
import { Failure } from '../parts/notice.tsx';
import { useAct } from '../use-act.ts';

/** Saves the stored bytes as a file; a refusal is told in place instead of being saved. */
export function Download({ artifactId }: { artifactId: string }) {
  const { busy, error, run } = useAct(() => saveBody(artifactId));
  return (
    <>
      <button type="button" aria-disabled={busy} onClick={run}>
        Download the stored bytes
      </button>
      <Failure error={error} />
    </>
  );
}

/** @throws Refused */
async function saveBody(artifactId: string): Promise<void> {
  const answer = await fetch(`/app/api/deliveries/${artifactId}/body`);
  if (!answer.ok) {
    const unknown = { code: 'unknown', message: 'The service did not answer as expected.' };
    throw new Refused(answer.status, await answer.json().catch(() => unknown));
  }
  const named = /filename="([^"]+)"/.exec(answer.headers.get('Content-Disposition') ?? '');
  const url = URL.createObjectURL(await answer.blob());
  const link = document.createElement('a');
  link.href = url;
  link.download = named?.[1] ?? artifactId;
  link.click();
  URL.revokeObjectURL(url);
}
