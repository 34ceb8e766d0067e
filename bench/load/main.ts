import { sendDocuments } from './documents.ts';
import type { Job, JobMessage, Load, LoadMessage } from './messages.ts';
import { sendPushes } from './pushes.ts';
import { openIdle, releaseIdle, sendRequests } from './requests.ts';

/** The entry of the loader's process: does the jobs that the bench sends it. */

process.on('message', ({ id, job }: JobMessage) => {
  run(job).then(
    (load) => answer({ id, load }),
    (error: Error) => answer({ id, error: error.stack ?? error.message }),
  );
});
// Without the bench there is nothing to do.
process.on('disconnect', () => process.exit());

const nothing: Load = { seconds: 0, bytes: 0, latenciesMs: [] };

async function run(job: Job): Promise<Load> {
  switch (job.kind) {
    case 'documents':
      return sendDocuments(job);
    case 'pushes':
      return sendPushes(job);
    case 'requests':
      return sendRequests(job);
    case 'idle':
      return openIdle(job);
    case 'release':
      releaseIdle();
      return nothing;
  }
}

function answer(message: LoadMessage): void {
  process.send!(message);
}
