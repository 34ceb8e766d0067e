import { sendDocuments } from './documents.ts';
import type { Job, JobMessage, Load, LoadMessage } from './messages.ts';
import { sendPushes } from './pushes.ts';
import { openIdle, release, sendRequests } from './requests.ts';

/** The entry of the loader's process: does the jobs that the bench sends it. */

process.on('message', ({ id, job }: JobMessage) => {
  run(job).then(
    (load) => answer({ id, load }),
    (error: Error) => answer({ id, error: error.stack ?? error.message }),
  );
});
// Without the bench there is nothing to do.
process.on('disconnect', () => process.exit());

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
      return release();
  }
}

function answer(message: LoadMessage): void {
  process.send!(message);
}
