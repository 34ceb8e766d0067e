import { parentPort, workerData } from 'node:worker_threads';
import { assert } from '../../std/assert.ts';
import { failureOf } from '../failures.ts';
import type { FromThread, ThreadSettings, ToThread } from './messages.ts';
import { openWriter, type Writer } from './writer.ts';

/** The thread in which SQLite syncs to disk, so that the event loop of the service never waits. */
assert(parentPort, 'this file is a worker thread');
const port = parentPort;
const settings = workerData as ThreadSettings;

const tell = (message: FromThread) => port.postMessage(message);

async function serve(writer: Writer, message: ToThread): Promise<void> {
  if (message.kind === 'close') {
    await writer.close();
    port.close();
    return;
  }
  const { id, call } = message;
  try {
    tell({ kind: 'answer', id, value: await writer.call(call) });
  } catch (error) {
    tell({ kind: 'failed', id, failure: failureOf(error) });
  }
}

try {
  const writer = await openWriter(settings.path);
  port.on('message', (message: ToThread) => void serve(writer, message));
  tell({ kind: 'open' });
} catch (error) {
  tell({ kind: 'not_open', failure: failureOf(error) });
  port.close();
}
