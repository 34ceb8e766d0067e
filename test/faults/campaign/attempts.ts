import { type FileHandle, open, readFile } from 'node:fs/promises';
import type { BodySpec } from './bodies.ts';

/** Written before an attempt is sent. Its body is made again from `body`. */
export interface Begun {
  readonly at: 'begin';
  readonly attempt: number;
  readonly scope: string;
  readonly body: BodySpec;
  readonly how: 'whole' | 'cut';
  readonly sha256: string;
  readonly bytes: number;
  /** How many rows of samples parsing must make of it. */
  readonly rows: number;
}

/** `ok`: a receipt came. `refused`: 4xx. `unknown`: 5xx, or no whole answer. */
export type Outcome = 'ok' | 'refused' | 'unknown';

/** Written when an attempt has ended. */
export interface Ended {
  readonly at: 'end';
  readonly attempt: number;
  readonly outcome: Outcome;
  /** Null: no answer came. */
  readonly status: number | null;
  /** The body of a 202, as it came. */
  readonly receipt: string | null;
  readonly replayed: boolean;
  readonly differs: boolean;
  readonly retryAfter: boolean;
}

/** What a read of a source's samples showed. */
export interface Read {
  readonly at: 'read';
  readonly scope: string;
  readonly status: number | null;
  /** The deliveries that its samples came from. */
  readonly artifacts: readonly string[];
}

export type Entry = Begun | Ended | Read;

/**
 * The log of a load: JSON lines, in the order in which things happened. An entry is on the disk
 * when `append` resolves. Entries that come while others are written share the next write.
 */
export class AttemptLog {
  readonly #file: FileHandle;
  #lines: string[] = [];
  #next: Promise<void> | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(file: FileHandle) {
    this.#file = file;
  }

  static async create(path: string): Promise<AttemptLog> {
    return new AttemptLog(await open(path, 'wx'));
  }

  append(entry: Entry): Promise<void> {
    this.#lines.push(`${JSON.stringify(entry)}\n`);
    this.#next ??= this.#writing.then(() => this.#write());
    return this.#next;
  }

  async close(): Promise<void> {
    await this.#next;
    await this.#file.close();
  }

  #write(): Promise<void> {
    const text = this.#lines.splice(0).join('');
    this.#next = null;
    this.#writing = this.#file.appendFile(text).then(() => this.#file.datasync());
    return this.#writing;
  }
}

/** An attempt from its beginning to its end; both are places in the log. */
export interface Attempt extends Omit<Begun, 'at'> {
  readonly beganAt: number;
  readonly endedAt: number;
  readonly end: Ended;
}

export interface LoadLog {
  readonly attempts: readonly Attempt[];
  readonly reads: readonly Read[];
}

/** @throws Error when an attempt has no end: the load did not stop in good order */
export async function readLog(path: string): Promise<LoadLog> {
  const begun = new Map<number, Begun & { beganAt: number }>();
  const attempts: Attempt[] = [];
  const reads: Read[] = [];
  const lines = (await readFile(path, 'utf8')).split('\n');
  if (lines.pop() !== '') throw new Error('the last line of the log is not whole');
  for (const [place, line] of lines.entries()) {
    const entry = JSON.parse(line) as Entry;
    if (entry.at === 'read') reads.push(entry);
    else if (entry.at === 'begin') begun.set(entry.attempt, { ...entry, beganAt: place });
    else {
      const { at: _, ...own } = begun.get(entry.attempt)!;
      begun.delete(entry.attempt);
      attempts.push({ ...own, endedAt: place, end: entry });
    }
  }
  if (begun.size > 0) throw new Error(`${begun.size} attempts have no end in the log`);
  return { attempts, reads };
}
