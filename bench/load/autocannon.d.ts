/** The part of autocannon 9 that the bench uses; the package brings no types. */
declare module 'autocannon' {
  import type { EventEmitter } from 'node:events';

  export interface Request {
    method?: string;
    path?: string;
    headers?: Record<string, string>;
    body?: string;
    setupRequest?(request: Request): Request;
  }

  interface Options {
    readonly url: string;
    readonly connections: number;
    readonly amount: number;
    readonly requests: Request[];
    /** How often it looks whether it is done, in milliseconds. */
    readonly sampleInt: number;
    readonly bailout: number;
  }

  interface Result {
    readonly errors: number;
    readonly statusCodeStats: Readonly<Record<string, { readonly count: number }>>;
  }

  interface Instance extends EventEmitter, PromiseLike<Result> {
    on(
      event: 'response',
      listener: (client: unknown, status: number, bytes: number, ms: number) => void,
    ): this;
  }

  export default function autocannon(options: Options): Instance;
}
