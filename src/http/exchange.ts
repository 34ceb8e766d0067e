import type { HttpResponse } from 'uWebSockets.js';
import type { DeliveryWay } from '../domain/nouns.ts';
import { assert } from '../std/assert.ts';
import type { RequestHead } from './head.ts';
import type { OpenAnswers } from './open-answers.ts';
import { watchReader } from './unread-answers.ts';

/** The delivery that a receipt is of, for who watches answers. */
export interface ReceiptOf {
  readonly artifactId: string;
  readonly delivery?: DeliveryWay;
  /** Absent when the receipt was given before. */
  readonly bytes?: number;
}

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Closes the connection after the answer. */
  readonly close?: boolean;
  readonly receiptOf?: ReceiptOf;
}

const reasons: Record<number, string> = {
  200: 'OK',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  307: 'Temporary Redirect',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/**
 * So much of a streamed answer is handed over at once: a reader must take it while it is watched
 * (`limits.readersProgressMs`), and what it does not take at once is held.
 */
const streamedBytesMax = 128 * 1024;

/**
 * On every answer (SECURITY.md, "Headers"): nothing guesses at types, keeps a copy, or runs or
 * frames what it shows. An answer's own headers win.
 */
const standingHeaders = {
  'Cache-Control': 'no-store',
  'Content-Security-Policy': "default-src 'none'; frame-ancestors 'none'",
  'X-Content-Type-Options': 'nosniff',
};

/**
 * One request and its answer.
 *
 * States: `open` → `sending` (by `reply` and `stream`, while the reader has not taken all of it) →
 * `answered`; or `gone` (the sender went away). uWebSockets.js throws when a response is touched
 * after the last two, so every touch goes through here. It ends the connection when the next
 * request comes while an answer is not taken: at most one is held for each connection.
 */
export class Exchange {
  readonly head: RequestHead;
  readonly res: HttpResponse;
  readonly #service: OpenAnswers;
  #state: 'open' | 'sending' | 'answered' | 'gone' = 'open';
  #onGone: (() => void)[] = [];
  #onAnswer: ((status: number, receiptOf: ReceiptOf | undefined) => void)[] = [];
  #onSent: (() => void) | null = null;
  /** Called when nothing is left here of what was written so far. */
  #onTaken: (() => void) | null = null;
  #headers: Record<string, string> = {};

  /** Must be made within the request handler, before anything is awaited. */
  constructor(res: HttpResponse, head: RequestHead, service: OpenAnswers) {
    this.res = res;
    this.#service = service;
    this.head = head;
    res.onAborted(() => {
      this.#sent();
      this.#state = 'gone';
      for (const tell of this.#onGone) tell();
      this.#onGone = [];
    });
  }

  get open(): boolean {
    return this.#state === 'open';
  }

  /** Of the socket's other end, as text; empty when nobody is there to be answered any more. */
  get remoteAddress(): string {
    if (!this.open) return '';
    return Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  /** Headers for the answer, whatever it will be; its own win over these. */
  addHeaders(headers: Readonly<Record<string, string>>): void {
    Object.assign(this.#headers, headers);
  }

  /** Calls `tell` with the status, and what it is the receipt of, when the answer goes out. */
  onAnswer(tell: (status: number, receiptOf: ReceiptOf | undefined) => void): void {
    this.#onAnswer.push(tell);
  }

  /** Calls `tell` once when the sender goes away before the answer; at once if it is gone. */
  onGone(tell: () => void): void {
    if (this.#state === 'gone') tell();
    else this.#onGone.push(tell);
  }

  /** Answers; does nothing when the sender is gone. */
  reply(answer: Reply): void {
    if (this.#state === 'gone') return;
    assert(this.#state === 'open', 'an exchange is answered once');
    this.#state = 'answered';
    this.#onGone = [];
    for (const tell of this.#onAnswer) tell(answer.status, answer.receiptOf);
    let unsent: Uint8Array | null = null;
    this.res.cork(() => {
      this.#writeHead(answer);
      unsent = this.#end(answer);
    });
    if (unsent) this.#sendRest(unsent);
  }

  /**
   * Answers with a body whose length nobody knows yet. The next piece is asked for when the reader
   * has taken the one before, so that no more is held than a piece. Resolves when all of it is on
   * its way, or the reader is gone.
   *
   * @throws whatever the pieces throw: at the first of them nothing is answered yet, later the
   *   connection is cut, for what came must not pass for the whole
   */
  async stream(head: Pick<Reply, 'status' | 'headers'>, pieces: AsyncIterable<Uint8Array>) {
    const rest = pieces[Symbol.asyncIterator]();
    try {
      let next = await rest.next();
      if (!this.open) return;
      this.#state = 'sending';
      this.#onGone = [];
      for (const tell of this.#onAnswer) tell(head.status, undefined);
      this.res.cork(() => {
        this.#writeHead(head);
        if (this.#service.closing) this.res.writeHeader('Connection', 'close');
      });
      // Once for all: set while it is being called, another one would be forgotten.
      this.res.onWritable(() => {
        this.#onTaken?.();
        return true;
      });
      while (!next.done) {
        await this.#write(next.value);
        if (!this.#isSending()) return;
        next = await rest.next();
      }
      if (this.#isSending()) this.res.cork(() => this.res.end());
      this.#sent();
    } catch (error) {
      if (this.#isSending()) this.res.close();
      throw error;
    } finally {
      await rest.return?.();
    }
  }

  #isSending(): boolean {
    return this.#state === 'sending';
  }

  #writeHead({ status, headers: own }: Pick<Reply, 'status' | 'headers'>): void {
    this.res.writeStatus(`${status} ${reasons[status] ?? 'Status'}`);
    const headers = { ...standingHeaders, ...this.#headers, ...own };
    for (const [name, value] of Object.entries(headers)) this.res.writeHeader(name, value);
  }

  /** Resolves when the reader has taken it, or is gone. */
  async #write(piece: Uint8Array): Promise<void> {
    const { res } = this;
    for (let at = 0; at < piece.length && this.#isSending(); at += streamedBytesMax) {
      const part = piece.subarray(at, at + streamedBytesMax);
      let taken = true;
      res.cork(() => {
        taken = res.write(part);
      });
      if (taken) continue;
      const { promise, resolve } = Promise.withResolvers<void>();
      const forget = watchReader({ body: part, bytesTaken: 0, cut: () => void res.close() });
      this.#onSent = resolve;
      this.#onTaken = resolve;
      await promise;
      this.#onSent = null;
      this.#onTaken = null;
      forget();
    }
  }

  /**
   * A HEAD's answer tells the length and has no body (RFC 9110, section 9.3.2); a 204 and a 304
   * have neither (section 8.6).
   *
   * @returns the body of which the reader has not taken all
   */
  #end({ status, body = '', close = false }: Reply): Uint8Array | null {
    const head = this.head.method === 'HEAD';
    const bodiless = head || status === 204 || status === 304;
    if (close) {
      this.res.end(bodiless ? '' : body, true);
      return null;
    }
    // At a stop. Closed by us, the rest of a body that is on its way would reset the connection
    // before the answer is read; so whoever asked closes it.
    if (this.#service.closing) this.res.writeHeader('Connection', 'close');
    const length = Buffer.byteLength(body);
    if (!bodiless) {
      const [, done] = this.res.tryEnd(body, length);
      if (done) return null;
      return typeof body === 'string' ? Buffer.from(body) : body;
    }
    // Given a length, endWithoutBody leaves the request pending: nothing follows it.
    if (head) this.res.writeHeader('Content-Length', String(length));
    this.res.endWithoutBody();
    return null;
  }

  /** Nothing of it is copied: as many readers as like share a kept answer. */
  #sendRest(body: Uint8Array): void {
    const { res } = this;
    this.#state = 'sending';
    this.#service.enter();
    const forget = watchReader({
      body,
      get bytesTaken() {
        return res.getWriteOffset();
      },
      cut: () => void res.close(),
    });
    this.#onSent = () => {
      forget();
      this.#service.leave();
    };
    res.onWritable((offset) => {
      const [ok, done] = res.tryEnd(body.subarray(offset), body.byteLength);
      if (done) this.#sent();
      return ok;
    });
  }

  #sent(): void {
    if (this.#state !== 'sending') return;
    this.#state = 'answered';
    this.#onSent?.();
  }

  /** Cuts the connection without an answer. */
  cut(): void {
    if (this.#state !== 'open') return;
    this.res.close();
  }
}
