import { assert } from '../../std/assert.ts';
import { StoreAway, type Upload } from '../artifacts.ts';
import type { S3Address } from './address.ts';
import { requireKept } from './answer.ts';
import type { Connection } from './connection.ts';
import type { Connections } from './connections.ts';
import { refused, storeError } from './errors.ts';
import { type Put, putHead, trailer } from './put.ts';
import type { Response } from './response.ts';
import type { Turn } from './turns.ts';

/** What uploads of one store share. */
export interface UploadMeans {
  readonly address: S3Address;
  readonly connections: Connections;
  readonly responseMs: number;
}

/**
 * One body on its way to the store: a PUT whose checksum trailer is withheld until the commit.
 *
 * States: `waiting` (nothing sent; no connection, or a turn is being waited for) → `sending` (head
 * sent, body under way) → `committing` (trailer sent, answer awaited) → `done`. Any failure, an
 * answer before its time and `abort` lead to `lost`, where every call gets the first reason.
 * While no write is under way its turn rests: others may have it, and the next write waits for it.
 *
 * Ordering: the store makes the object visible, and durable, only after the trailer and when its
 * own SHA-256 agrees; 200 with that checksum is its word for it.
 *
 * Failure: destroying the socket before the trailer stores nothing. Only a connection that died
 * before it took a byte of the head is replaced, once; after that nothing is sent again.
 */
export class S3Upload implements Upload {
  readonly #means: UploadMeans;
  readonly #put: Omit<Put, 'now'>;
  readonly #aborted = new AbortController();
  #state: 'waiting' | 'sending' | 'committing' | 'done' | 'lost' = 'waiting';
  #opening: Promise<Connection> | null = null;
  /** Null while the turn rests; one for all writes that wait for it, which keeps their order. */
  #going: Promise<Connection> | null = null;
  #connection: Connection | null = null;
  #turn: Turn | null = null;
  #answer: Promise<Response> | null = null;
  #lost: Error | null = null;
  #begun = 0;
  #written = 0;
  #writing = 0;

  constructor(means: UploadMeans, put: Omit<Put, 'now'>) {
    this.#means = means;
    this.#put = put;
  }

  async write(bytes: Uint8Array): Promise<void> {
    this.#begun += bytes.length;
    assert(this.#begun <= this.#put.length, 'an upload holds no more bytes than announced');
    this.#writing += 1;
    await this.#attempt(async () => {
      const connection = await this.#goOn();
      await connection.write(bytes);
    });
    this.#written += bytes.length;
    this.#writing -= 1;
    if (this.#writing > 0) return;
    this.#going = null;
    this.#turn?.rest();
  }

  async commit(sha256: Buffer): Promise<void> {
    const { length } = this.#put;
    const end = trailer(sha256, length);
    assert(this.#lost || this.#written === length, 'all announced bytes were written');
    assert(this.#state !== 'committing' && this.#state !== 'done', 'an upload is committed once');
    await this.#attempt(async () => {
      const connection = await this.#goOn();
      this.#state = 'committing';
      const response = await this.#finish(connection, end);
      requireKept(response, sha256);
      this.#state = 'done';
      this.#giveBack(connection);
    });
  }

  async abort(): Promise<void> {
    if (this.#state !== 'done') this.#lose(new StoreAway('the upload was given up'));
  }

  async #finish(connection: Connection, end: string): Promise<Response> {
    const { responseMs } = this.#means;
    const late = new Error(`no answer within ${responseMs} ms of the trailer`);
    const timer = setTimeout(() => connection.destroy(late), responseMs);
    try {
      assert(this.#answer, 'an exchange has begun');
      const [response] = await Promise.all([this.#answer, connection.write(end)]);
      return response;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Resolves with the connection when it is open and the upload's turn. */
  #goOn(): Promise<Connection> {
    this.#going ??= this.#inTurn();
    return this.#going;
  }

  async #inTurn(): Promise<Connection> {
    this.#opening ??= this.#open();
    const connection = await this.#opening;
    await this.#turn?.resume();
    return connection;
  }

  async #open(): Promise<Connection> {
    const { signal } = this.#aborted;
    const { connections } = this.#means;
    const giveWay = (reason: Error) => void this.#lose(storeError(reason, 'waiting for a body'));
    const { connection, used, turn } = await connections.take('streamed', signal, giveWay);
    this.#turn = turn;
    this.#connection = connection;
    if (this.#lost) throw this.#giveUp(this.#lost);
    try {
      await this.#sendHead(connection);
    } catch (error) {
      // The head is small: the kernel took it whole or not at all.
      if (!used || this.#lost) throw error;
      const fresh = await connections.fresh(signal);
      this.#connection = fresh;
      if (this.#lost) throw this.#giveUp(this.#lost);
      await this.#sendHead(fresh);
    }
    this.#state = 'sending';
    return this.#connection;
  }

  async #sendHead(connection: Connection): Promise<void> {
    const answer = connection.begin();
    this.#answer = answer;
    answer.then(
      (response) => {
        if (this.#state !== 'committing' && this.#state !== 'done') this.#lose(refused(response));
      },
      (error) => {
        if (this.#state === 'sending') this.#lose(storeError(error, 'taking a body'));
      },
    );
    await connection.write(putHead(this.#means.address, { ...this.#put, now: Date.now() }));
  }

  async #attempt(work: () => Promise<void>): Promise<void> {
    assert(this.#state !== 'done', 'nothing follows a commit');
    if (this.#lost) throw this.#lost;
    try {
      await work();
    } catch (error) {
      throw this.#lose(storeError(error, 'taking a body'));
    }
    // An answer before its time may have come while the work was under way.
    if (this.#lost) throw this.#lost;
  }

  #lose(reason: Error): Error {
    this.#lost ??= reason;
    this.#state = 'lost';
    this.#aborted.abort(this.#lost);
    return this.#giveUp(this.#lost);
  }

  /** Frees the turn, once; without its trailer the request is void. */
  #giveUp(reason: Error): Error {
    this.#connection?.destroy(reason);
    this.#giveBack(null);
    return reason;
  }

  #giveBack(connection: Connection | null): void {
    if (this.#turn) this.#means.connections.giveBack(this.#turn, connection);
    this.#turn = null;
  }
}
