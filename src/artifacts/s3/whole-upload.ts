import { assert } from '../../std/assert.ts';
import { StoreAway, type Upload } from '../artifacts.ts';
import { requireKept } from './answer.ts';
import type { Connection } from './connection.ts';
import { storeError } from './errors.ts';
import { type Put, wholePutHead } from './put.ts';
import type { Response } from './response.ts';
import type { UploadMeans } from './upload.ts';

/**
 * A body that is whole before any of it is sent: its hash is in the head, and head and body leave
 * together, so that the store has all at once. For bodies of at most a few MiB, which are copied.
 *
 * Ordering: nothing is sent before the commit. The store's answer is its word as with `S3Upload`.
 *
 * Failure: on a connection that was used before and is found dead, all is sent once more on a
 * fresh one: the same bytes under the same name. After that nothing is sent again.
 */
export class S3WholeUpload implements Upload {
  readonly #means: UploadMeans;
  readonly #put: Omit<Put, 'now'>;
  readonly #body: Buffer;
  readonly #aborted = new AbortController();
  #written = 0;
  #state: 'open' | 'committing' | 'done' | 'lost' = 'open';
  #lost: Error | null = null;
  #isLate = false;

  constructor(means: UploadMeans, put: Omit<Put, 'now'>) {
    this.#means = means;
    this.#put = put;
    this.#body = Buffer.allocUnsafeSlow(put.length);
  }

  async write(bytes: Uint8Array): Promise<void> {
    if (this.#lost) throw this.#lost;
    assert(this.#state === 'open', 'nothing follows a commit');
    const end = this.#written + bytes.length;
    assert(end <= this.#put.length, 'an upload holds no more bytes than announced');
    this.#body.set(bytes, this.#written);
    this.#written = end;
  }

  async commit(sha256: Buffer): Promise<void> {
    assert(sha256.length === 32, 'a SHA-256 is 32 bytes');
    if (this.#lost) throw this.#lost;
    assert(this.#written === this.#put.length, 'all announced bytes were written');
    assert(this.#state === 'open', 'an upload is committed once');
    this.#state = 'committing';
    try {
      await this.#send(sha256);
      this.#state = 'done';
    } catch (error) {
      this.#lost ??= storeError(error, 'taking a body');
      this.#state = 'lost';
      throw this.#lost;
    }
  }

  async abort(): Promise<void> {
    if (this.#state === 'done') return;
    this.#lost ??= new StoreAway('the upload was given up');
    this.#aborted.abort(this.#lost);
  }

  async #send(sha256: Buffer): Promise<void> {
    const { connections } = this.#means;
    const { signal } = this.#aborted;
    const taken = await connections.take('whole', signal);
    let { connection } = taken;
    let kept: Connection | null = null;
    try {
      let response: Response;
      try {
        response = await this.#exchange(connection, sha256);
      } catch (error) {
        if (!taken.used || signal.aborted || this.#isLate) throw error;
        connection = await connections.fresh(signal);
        response = await this.#exchange(connection, sha256);
      }
      requireKept(response, sha256);
      kept = connection;
    } finally {
      if (!kept) connection.destroy(new Error('the upload has failed'));
      connections.giveBack(taken.turn, kept);
    }
  }

  async #exchange(connection: Connection, sha256: Buffer): Promise<Response> {
    const { address, responseMs } = this.#means;
    const { signal } = this.#aborted;
    const timer = setTimeout(() => {
      this.#isLate = true;
      connection.destroy(new Error(`no answer within ${responseMs} ms of the body`));
    }, responseMs);
    const abort = () => connection.destroy(signal.reason);
    signal.addEventListener('abort', abort);
    try {
      signal.throwIfAborted();
      const answer = connection.begin();
      const head = wholePutHead(address, { ...this.#put, now: Date.now() }, sha256);
      const [response] = await Promise.all([answer, connection.writeTogether([head, this.#body])]);
      return response;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }
}
