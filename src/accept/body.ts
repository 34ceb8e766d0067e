import { createHash, type Hash, hash } from 'node:crypto';
import { limits } from '../domain/limits.ts';
import type { Exchange } from '../http/exchange.ts';
import { assert } from '../std/assert.ts';
import { type Block, copyChunk, GatheredChunks } from './buffer-pool.ts';
import { askForTurn, bytesGo } from './read-turns.ts';
import { watchSender } from './sender-watch.ts';

export interface BodyEnd {
  readonly bytes: number;
  /** Of the body as received. */
  readonly sha256: Buffer;
}

/** A whole body in one buffer. */
export interface CollectedBody extends BodyEnd {
  readonly body: Buffer;
}

/** The sender went away, or stayed silent past its deadline: nobody is there to be answered. */
export class SenderGone extends Error {
  override readonly name = 'SenderGone';
}

/** The body is longer than a delivery may be. */
export class BodyTooLong extends Error {
  override readonly name = 'BodyTooLong';
  /** The sender still had more when we stopped reading: the connection cannot go on. */
  readonly unfinished: boolean;
  constructor(unfinished: boolean) {
    super('the body is longer than a delivery may be');
    this.unfinished = unfinished;
  }
}

/** A read that brings so much has not emptied the system's buffer of its connection. */
const backlogBytesMin = 64 * 1024;

type Sink = (bytes: Buffer) => Promise<void>;

/**
 * The body of one request, hashed and counted as it arrives.
 *
 * States: `waiting` (no reader yet: what arrives with the head is kept, the sender then paused) →
 * `reading` (chunks go to the sink; the sender is paused while more than `uploadBytesAheadMax`
 * wait for it) → `ended` or `failed` (sender gone, too long, abandoned, or the sink failed). A body
 * that is too long goes through `discarding` first: many clients read no answer before they have
 * sent everything, so the rest is read and thrown away, up to a bound.
 *
 * Must be made within the request handler: uWebSockets.js drops chunks that nobody asked for.
 */
export class Body {
  readonly #exchange: Exchange;
  /** Null until there is more than one piece. */
  #hash: Hash | null = null;
  #sha256: Buffer | null = null;
  #state: 'waiting' | 'reading' | 'ended' | 'failed' | 'discarding' = 'waiting';
  #bytes = 0;
  #complete = false;
  #kept: Block[] = [];
  /** Small chunks that are not in a block yet; placed at the end of the event loop's turn. */
  readonly #gathered = new GatheredChunks();
  #placing = false;
  #bytesAhead = 0;
  #paused = false;
  /** Paused, and waits for its turn to be read. */
  #asked = false;
  #sink: Sink | null = null;
  #settle: { resolve: (end: BodyEnd) => void; reject: (error: unknown) => void } | null = null;
  #failure: unknown = null;
  /** Up to so many bytes the sender is not paused before there is a reader. */
  #keepBytesMax = 0;
  #onKept: (() => void) | null = null;
  #unwatch: () => void;
  /** When the last byte came, by the clock of the process; the watch reads it. */
  lastByteAt = performance.now();

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
    this.#unwatch = watchSender(this);
    exchange.onGone(() => this.#fail(new SenderGone('the sender closed the connection')));
    exchange.res.onData((chunk, isLast) => this.#take(chunk, isLast));
  }

  get bytesCome(): number {
    return this.#bytes;
  }

  get complete(): boolean {
    return this.#complete;
  }

  /** True while we wait for the sender, not the sender for us. */
  get awaitsSender(): boolean {
    return !this.#paused && !this.#complete && this.#exchange.open;
  }

  /** Called by the watch. */
  cutSilentSender(): void {
    this.#fail(new SenderGone('the sender was silent for too long'));
    this.#exchange.cut();
  }

  /**
   * Hands the body to `sink`, in order; several calls may be under way at once. The memory of a
   * chunk is used again when its call resolves.
   *
   * @returns when the last byte has arrived and every call has resolved
   * @throws SenderGone, BodyTooLong, or whatever the sink rejected with
   */
  read(sink: Sink): Promise<BodyEnd> {
    assert(this.#sink === null, 'a body is read once');
    if (this.#state === 'failed') return Promise.reject(this.#failure);
    // Behind what is kept, before there is a sink to hand it to.
    this.#placeGathered();
    this.#state = 'reading';
    this.#sink = sink;
    return new Promise((resolve, reject) => {
      this.#settle = { resolve, reject };
      for (const block of this.#kept.splice(0)) this.#hand(block);
      this.#advance();
    });
  }

  /**
   * Waits until the body is complete or has more than `bytes`; what has come is kept for the
   * reader. For bodies that do not tell their length.
   *
   * @throws SenderGone
   */
  begun(bytes: number): Promise<void> {
    this.#keepBytesMax = bytes;
    return new Promise((resolve, reject) => {
      const settleWhenKnown = () => {
        if (this.#state === 'failed') reject(this.#failure);
        else if (this.#complete || this.#bytes > bytes) resolve();
      };
      this.#onKept = settleWhenKnown;
      settleWhenKnown();
      if (this.#bytes <= bytes) this.#resume();
    });
  }

  /**
   * Reads the body into one buffer.
   *
   * @param bytesExpected sizes it; more is taken when more comes
   * @param each sees every part of it as it arrives
   * @throws SenderGone, BodyTooLong
   */
  async collect(
    bytesExpected: number,
    each: (bytes: Uint8Array) => void = () => {},
  ): Promise<CollectedBody> {
    const whole = this.#takeWhole();
    if (whole) {
      each(whole.body);
      return whole;
    }
    let body: Buffer = Buffer.alloc(0);
    let filled = 0;
    const end = await this.read(async (bytes) => {
      if (filled === 0 && body.length < bytes.length) {
        body = Buffer.allocUnsafe(Math.max(bytesExpected, bytes.length));
      } else if (filled + bytes.length > body.length) {
        const larger = Buffer.allocUnsafe(Math.max(2 * body.length, filled + bytes.length));
        larger.set(body.subarray(0, filled));
        body = larger;
      }
      body.set(bytes, filled);
      filled += bytes.length;
      each(bytes);
    });
    return { ...end, body: body.subarray(0, filled) };
  }

  /** A small body that came with its head is one block, with memory of its own: no copy of it. */
  #takeWhole(): CollectedBody | null {
    const [block, ...more] = this.#kept;
    const isWhole = this.#state === 'waiting' && this.#complete && block && more.length === 0;
    if (!isWhole || this.#sha256 === null || !block.isOwn) return null;
    assert(this.#sink === null, 'a body is read once');
    this.#state = 'ended';
    this.#kept = [];
    this.#bytesAhead -= block.bytesHeld;
    return { bytes: this.#bytes, sha256: this.#sha256, body: block.bytes };
  }

  /** Gives the body up, as when it is refused: the rest flows past, nothing is kept. */
  abandon(): void {
    this.giveWay(new SenderGone('the body was given up'));
  }

  /** The same; who reads it gets `error`. */
  giveWay(error: Error): void {
    this.#fail(error);
  }

  #take(chunk: ArrayBuffer, isLast: boolean): void {
    if (this.#complete || this.#state === 'failed') return;
    this.lastByteAt = performance.now();
    this.#bytes += chunk.byteLength;
    this.#complete = isLast;
    if (isLast) {
      this.#unwatch();
      // The rest of one read still comes after a pause. Left paused, the connection would never
      // bring its next request.
      this.#resume();
    }
    if (this.#bytes > limits.deliveryBytesMax) {
      this.#state = 'discarding';
      this.#kept.splice(0);
      this.#resume();
      if (isLast || this.#bytes > limits.discardBytesMax) this.#fail(new BodyTooLong(!isLast));
      return;
    }
    if (chunk.byteLength > 0) this.#gather(chunk, isLast);
    if (isLast) this.#placeGathered();
    // A large chunk says that there is more where it came from: what follows comes in turn.
    const more = chunk.byteLength >= backlogBytesMin;
    const ahead = this.#bytesAhead >= limits.uploadBytesAheadMax;
    const unread = this.#bytes > this.#keepBytesMax;
    if (!isLast && (this.#sink ? more || ahead : unread)) this.#pause();
    this.#onKept?.();
    this.#advance();
  }

  /** Puts a chunk into a block: its own when it is large or alone, else one with its neighbours. */
  #gather(chunk: ArrayBuffer, isLast: boolean): void {
    const alone = isLast && this.#gathered.empty;
    if (alone || !this.#gathered.add(chunk)) {
      this.#placeGathered();
      if (alone || !this.#gathered.add(chunk)) this.#place(copyChunk(chunk));
    }
    if (this.#placing || this.#gathered.empty) return;
    this.#placing = true;
    setImmediate(() => {
      this.#placing = false;
      this.#placeGathered();
    });
  }

  #placeGathered(): void {
    const block = this.#gathered.take();
    if (block && (this.#state === 'waiting' || this.#state === 'reading')) this.#place(block);
  }

  #place(block: Block): void {
    if (this.#complete && this.#hash === null && block.bytes.length === this.#bytes) {
      this.#sha256 = hash('sha256', block.bytes, 'buffer');
    } else {
      this.#hash ??= createHash('sha256');
      this.#hash.update(block.bytes);
    }
    this.#bytesAhead += block.bytesHeld;
    if (this.#sink) this.#hand(block);
    else this.#kept.push(block);
  }

  #hand(block: Block): void {
    const arrived = bytesGo(block.bytesHeld);
    this.#sink!(block.bytes).then(
      () => {
        arrived();
        block.release();
        this.#bytesAhead -= block.bytesHeld;
        this.#advance();
      },
      // The block is not used again: a failed write may still be looking at it.
      (error) => {
        arrived();
        this.#fail(error);
      },
    );
  }

  #advance(): void {
    if (this.#state !== 'reading') return;
    if (this.#complete && this.#bytesAhead === 0) {
      this.#state = 'ended';
      this.#sha256 ??= (this.#hash ?? createHash('sha256')).digest();
      this.#settle?.resolve({ bytes: this.#bytes, sha256: this.#sha256 });
    } else if (this.#bytesAhead < limits.uploadBytesAheadMax && this.#paused && !this.#asked) {
      this.#asked = true;
      askForTurn(() => {
        this.#asked = false;
        this.#resume();
      });
    }
  }

  #fail(error: unknown): void {
    if (this.#state === 'ended' || this.#state === 'failed') return;
    this.#state = 'failed';
    this.#failure = error;
    this.#unwatch();
    for (const block of this.#kept.splice(0)) block.release();
    this.#resume();
    this.#onKept?.();
    this.#settle?.reject(error);
  }

  #pause(): void {
    if (this.#paused || !this.#exchange.open) return;
    this.#paused = true;
    this.#exchange.res.pause();
  }

  #resume(): void {
    if (!this.#paused || !this.#exchange.open) return;
    this.#paused = false;
    this.lastByteAt = performance.now();
    this.#exchange.res.resume();
  }
}
