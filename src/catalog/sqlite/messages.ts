import type { Failure } from '../failures.ts';
import type { Call } from '../writes.ts';

/** What crosses between the catalog's client and its thread. Checked by types on both sides. */

export interface ThreadSettings {
  readonly path: string;
}

export type ToThread =
  | { readonly kind: 'call'; readonly id: number; readonly call: Call }
  /** The thread answers what came before, closes the file and ends. */
  | { readonly kind: 'close' };

export type FromThread =
  | { readonly kind: 'open' }
  | { readonly kind: 'not_open'; readonly failure: Failure }
  | { readonly kind: 'answer'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'failed'; readonly id: number; readonly failure: Failure };
