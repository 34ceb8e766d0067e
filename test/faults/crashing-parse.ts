import type { ParseAnswer, ParseTask } from '../../src/parse/messages.ts';
import parse from '../../workers/parse.ts';

/**
 * The parse thread with a parser that has defects: the media type of a delivery says which. All
 * else is the real one.
 */
export default async function parseWithDefects(task: ParseTask): Promise<ParseAnswer> {
  for (const { mediaType } of task.deliveries) {
    if (mediaType === 'test/throws') throw new Error('a defect of the parser');
    if (mediaType === 'test/exits') process.exit(1);
    if (mediaType === 'test/hangs') hang();
  }
  return parse(task);
}

/** For ever, and without using a core up. */
function hang(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}
