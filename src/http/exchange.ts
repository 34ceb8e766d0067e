import type { HttpResponse } from 'uWebSockets.js';
import { assert } from '../std/assert.ts';
import type { RequestHead } from './head.ts';

export interface Reply {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Closes the connection after the answer. */
  readonly close?: boolean;
}

const reasons: Record<number, string> = {
  200: 'OK',
  202: 'Accepted',
  204: 'No Content',
  304: 'Not Modified',
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  413: 'Content Too Large',
  415: 'Unsupported Media Type',
  429: 'Too Many Requests',
  500: 'Internal Server Error',
  503: 'Service Unavailable',
};

/**
 * One request and its answer.
 *
 * States: `open` → `answered` (by `reply`) or `gone` (the sender went away). uWebSockets.js
 * throws when a response is touched after either, so every touch goes through here.
 */
export class Exchange {
  readonly head: RequestHead;
  readonly res: HttpResponse;
  readonly #service: { readonly closing: boolean };
  #state: 'open' | 'answered' | 'gone' = 'open';
  #onGone: (() => void)[] = [];
  #onAnswer: ((status: number) => void)[] = [];
  #headers: Record<string, string> = {};

  /** Must be made within the request handler, before anything is awaited. */
  constructor(res: HttpResponse, head: RequestHead, service: { readonly closing: boolean }) {
    this.res = res;
    this.#service = service;
    this.head = head;
    res.onAborted(() => {
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

  /** Calls `tell` with the status when the answer goes out. */
  onAnswer(tell: (status: number) => void): void {
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
    for (const tell of this.#onAnswer) tell(answer.status);
    this.res.cork(() => {
      this.res.writeStatus(`${answer.status} ${reasons[answer.status] ?? 'Status'}`);
      for (const [name, value] of Object.entries({ ...this.#headers, ...answer.headers })) {
        this.res.writeHeader(name, value);
      }
      this.#end({ ...answer, close: answer.close === true || this.#service.closing });
    });
  }

  /**
   * A HEAD's answer tells the length and has no body (RFC 9110, section 9.3.2); a 204 and a 304
   * have neither (section 8.6).
   */
  #end({ status, body = '', close = false }: Reply): void {
    const head = this.head.method === 'HEAD';
    if (!head && status !== 204 && status !== 304) this.res.end(body, close);
    else if (close) this.res.end('', close);
    else {
      // Given a length, endWithoutBody leaves the request pending: nothing follows it.
      if (head) this.res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
      this.res.endWithoutBody();
    }
  }

  /** Cuts the connection without an answer. */
  cut(): void {
    if (this.#state !== 'open') return;
    this.res.close();
  }
}
