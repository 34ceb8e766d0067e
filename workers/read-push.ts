import { type PushReading, readPush } from '../src/domain/push.ts';
import type { ReadPushTask } from '../src/parse/messages.ts';

/** Piscina entry: reads a JSON push that would hold up the event loop for too long. */
export default function run(task: ReadPushTask): PushReading {
  return readPush(task.body, task.required);
}
