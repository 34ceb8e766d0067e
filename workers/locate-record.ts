import { setPriority } from 'node:os';
import { workerData } from 'piscina';
import { openArtifacts } from '../src/artifacts/open.ts';
import type { LocateAnswer, LocateTask, WorkerSettings } from '../src/parse/messages.ts';
import { locateStored } from './locate-stored.ts';

/** Piscina entry: reads single records again. It gives way, as the threads that parse do. */
setPriority(5);

const artifacts = openArtifacts((workerData as WorkerSettings).artifactsUrl);

export default function run(task: LocateTask): Promise<LocateAnswer> {
  return locateStored(artifacts, task);
}
