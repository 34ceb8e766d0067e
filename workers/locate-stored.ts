import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { ArtifactMissing, type ArtifactStore } from '../src/artifacts/artifacts.ts';
import type { LocateAnswer, LocateTask } from '../src/parse/messages.ts';
import { locateRecords } from './locate.ts';

/** Reads records of a delivery again, from the bytes that are stored, which it checks first. */
export async function locateStored(
  artifacts: Pick<ArtifactStore, 'read'>,
  task: LocateTask,
): Promise<LocateAnswer> {
  const { place, sha256 } = task.input;
  let received: Buffer;
  try {
    received = await buffer(await artifacts.read(place));
  } catch (error) {
    if (error instanceof ArtifactMissing) return { kind: 'missing' };
    const { name, message } = error as Error;
    return { kind: 'unreadable', reason: `${name}: ${message}` };
  }
  const found = createHash('sha256').update(received).digest('hex');
  if (found !== sha256) return { kind: 'changed' };
  return { kind: 'read', records: await locateRecords(task, received) };
}
