import { useState } from 'preact/hooks';
import { Refused } from '../api.ts';
import { Failure } from '../parts/notice.tsx';

/** Saves the stored bytes as a file; a refusal is told in place instead of being saved. */
export function Download({ artifactId }: { artifactId: string }) {
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<Error | null>(null);
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await saveBody(artifactId);
    } catch (failed) {
      setError(failed as Error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <button type="button" disabled={busy} onClick={save}>
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
