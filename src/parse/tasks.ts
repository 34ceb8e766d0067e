import type { Job } from '../catalog/catalog.ts';
import type { ShapeVersion } from '../domain/nouns.ts';
import type { ParseInput } from './messages.ts';

const smallBytesMax = 64 * 1024;
const taskJobsMax = 200;
const taskBytesMax = 512 * 1024;

/**
 * Shares jobs out into tasks for the threads: a large delivery is a task of its own, small ones
 * travel together, so that a thousand one-record pushes are not a thousand tasks.
 */
export function tasksOf<J extends Pick<Job, 'delivery'>>(jobs: readonly J[]): J[][] {
  const tasks: J[][] = [];
  let group: J[] = [];
  let groupBytes = 0;
  for (const job of jobs) {
    const { bytes } = job.delivery;
    if (bytes > smallBytesMax) {
      tasks.push([job]);
      continue;
    }
    if (group.length >= taskJobsMax || groupBytes + bytes > taskBytesMax) {
      tasks.push(group);
      group = [];
      groupBytes = 0;
    }
    group.push(job);
    groupBytes += bytes;
  }
  if (group.length > 0) tasks.push(group);
  return tasks;
}

/** A job as far as a worker needs to know it; its shape need not be saved. */
export type JobBasis = Pick<
  Job,
  'delivery' | 'generation' | 'company' | 'metrics' | 'personalNow'
> & { readonly shape: Pick<ShapeVersion, 'fields' | 'format'> };

/** What a worker needs to know of a job. */
export function inputOf(job: JobBasis): ParseInput {
  const { delivery } = job;
  return {
    artifactId: delivery.artifactId,
    sourceId: delivery.sourceId,
    sandbox: delivery.sandbox,
    sequence: delivery.sequence,
    generation: job.generation,
    place: delivery.place,
    sha256: delivery.sha256,
    delivery: delivery.delivery,
    format: job.shape.format,
    mediaType: delivery.mediaType,
    encoding: delivery.encoding,
    fields: job.shape.fields,
    metrics: job.metrics,
    personalNow: job.personalNow,
    timezone: job.company.timezone,
  };
}
