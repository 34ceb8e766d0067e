import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { setPriority } from 'node:os';
import type { MessagePort } from 'node:worker_threads';
import { move, transferableSymbol, valueSymbol, workerData } from 'piscina';
import { ArtifactMissing } from '../src/artifacts/artifacts.ts';
import { openArtifacts } from '../src/artifacts/open.ts';
import { TogetherReads } from '../src/artifacts/together.ts';
import type {
  HandedRows,
  ParseAnswer,
  ParseInput,
  ParseOutcome,
  ParseTask,
  RowPieces,
  WorkerSettings,
} from '../src/parse/messages.ts';
import { giveBack } from '../src/std/give-back.ts';
import { parseDelivery } from './delivery.ts';
import type { HandOn } from './delivery-rows.ts';

/**
 * The entry of a parse thread. It reads bodies from the artifact store by itself, so that they
 * never pass through the main thread; the encoded rows are moved to it, not copied.
 *
 * A body that cannot be read is `unreadable`; one that is missing, or not what was accepted, is
 * `damaged`.
 * Whatever else is thrown is a defect of the parser and fails the task.
 *
 * It gives way to whoever is waiting for an answer (on Linux a priority is of one thread): beside
 * two busy threads a window read took 31 ms, p99 211; with them at 5 it took 18 and 91.
 */
setPriority(5);

const { artifactsUrl } = workerData as WorkerSettings;
const artifacts = openArtifacts(artifactsUrl);

/** How many bodies are read ahead, while one is parsed. */
const readsAheadMax = 8;

export default async function parse(task: ParseTask): Promise<ParseAnswer> {
  const { deliveries, rows } = task;
  const together = new TogetherReads(
    artifacts,
    deliveries.map(({ place }) => place),
  );
  const read = (input: ParseInput, i: number) => bodyOf(input, together.body(i));
  const reads = deliveries.slice(0, readsAheadMax).map(read);
  const outcomes: ParseOutcome[] = [];
  try {
    for (const [i, input] of deliveries.entries()) {
      const body = await reads[i]!;
      // A read that is done with must not hold its body until the task ends.
      delete reads[i];
      const next = deliveries[i + readsAheadMax];
      if (next !== undefined) reads[i + readsAheadMax] = read(next, i + readsAheadMax);
      const outcome = 'kind' in body ? body : await outcomeOf(input, body, handOnTo(rows, i));
      outcomes.push(outcome);
      // A large one is alone in its task; of small ones several lie in one buffer.
      if (deliveries.length === 1 && !('kind' in body) && wasReadWhole(outcome)) giveBack(body);
    }
    return moved({ outcomes });
  } finally {
    rows?.close();
  }
}

type NotParsed = Extract<ParseOutcome, { readonly reason: string }>;

async function bodyOf(input: ParseInput, read: Promise<Buffer>): Promise<Buffer | NotParsed> {
  try {
    const body = await read;
    if (createHash('sha256').update(body).digest('hex') === input.sha256) return body;
    return { kind: 'damaged', reason: 'the stored bytes are not those that were accepted' };
  } catch (error) {
    const { name, message } = error as Error;
    if (error instanceof ArtifactMissing) return { kind: 'damaged', reason: message };
    return { kind: 'unreadable', reason: `${name}: ${message}` };
  }
}

async function outcomeOf(
  input: ParseInput,
  body: Buffer,
  handOn: HandOn | null,
): Promise<ParseOutcome> {
  try {
    return { kind: 'done', ...(await parseDelivery(input, body, handOn)) };
  } catch (error) {
    if (error instanceof RowsNotTaken) return { kind: 'unreadable', reason: error.message };
    throw error;
  }
}

/** Where reading broke off, a thread of zlib may still be at the packed bytes. */
function wasReadWhole(outcome: ParseOutcome): boolean {
  return outcome.kind === 'done' && outcome.refusal === null;
}

/** The main thread wants no more rows; what failed there is known there. */
class RowsNotTaken extends Error {}

function handOnTo(port: MessagePort | undefined, delivery: number): HandOn | null {
  if (port === undefined) return null;
  return async (rows) => {
    const handed: HandedRows = { ...rows, delivery };
    port.postMessage(handed, buffersOf(rows));
    const [goOn] = (await once(port, 'message')) as [boolean];
    if (!goOn) throw new RowsNotTaken('rows that were handed on were not taken');
  };
}

function buffersOf({ sampleRows, rejectionRows }: RowPieces): ArrayBuffer[] {
  return [...sampleRows, ...rejectionRows].map((piece) => piece.buffer);
}

function moved(answer: ParseAnswer): ParseAnswer {
  const buffers = answer.outcomes.flatMap((outcome) =>
    outcome.kind === 'done' ? buffersOf(outcome) : [],
  );
  const transferable = { [transferableSymbol]: buffers, [valueSymbol]: answer };
  return move(transferable) as unknown as ParseAnswer;
}
