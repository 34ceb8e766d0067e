import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { openArtifacts } from '../src/artifacts/open.ts';
import type {
  ParseAnswer,
  ParseInput,
  ParseOutcome,
  ParseTask,
  WorkerSettings,
} from '../src/parse/messages.ts';
import { parseDelivery } from './delivery.ts';

/**
 * The entry of a parse thread. It reads bodies from the artifact store by itself, so that they
 * never pass through the main thread; the encoded rows are moved to it, not copied.
 *
 * A body that cannot be read, or is not the one that was accepted, is `unreadable`. Whatever else
 * is thrown is a defect of the parser and fails the task.
 */

const { artifactsUrl } = workerData as WorkerSettings;
const artifacts = openArtifacts(artifactsUrl);

/** How many bodies are read ahead, while one is parsed. */
const readsAheadMax = 8;

export default async function parse(task: ParseTask): Promise<ParseAnswer> {
  const { deliveries } = task;
  const reads = deliveries.slice(0, readsAheadMax).map(read);
  const outcomes: ParseOutcome[] = [];
  for (const [i, input] of deliveries.entries()) {
    const body = await reads[i]!;
    // A read that is done with must not hold its body until the task ends.
    delete reads[i];
    const next = deliveries[i + readsAheadMax];
    if (next !== undefined) reads[i + readsAheadMax] = read(next);
    outcomes.push('kind' in body ? body : { kind: 'done', ...parseDelivery(input, body) });
  }
  return moved({ outcomes });
}

type Unreadable = Extract<ParseOutcome, { kind: 'unreadable' }>;

async function read(input: ParseInput): Promise<Buffer | Unreadable> {
  try {
    const body = await buffer(await artifacts.read(input.place));
    if (createHash('sha256').update(body).digest('hex') === input.sha256) return body;
    return { kind: 'unreadable', reason: 'the stored bytes are not those that were accepted' };
  } catch (error) {
    const { name, message } = error as Error;
    return { kind: 'unreadable', reason: `${name}: ${message}` };
  }
}

function moved(answer: ParseAnswer): ParseAnswer {
  const buffers = answer.outcomes.flatMap((outcome) =>
    outcome.kind === 'done' ? [outcome.sampleRows.buffer, outcome.rejectionRows.buffer] : [],
  );
  const transferable = { [transferableSymbol]: buffers, [valueSymbol]: answer };
  return move(transferable) as unknown as ParseAnswer;
}
