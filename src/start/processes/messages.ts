import type { RateRule, RateVerdict } from '../../domain/rates.ts';
import type { MetricsSnapshot } from '../../metrics/together.ts';
import type { ClickHouseAddress } from '../../samples/address.ts';
import type { Health } from '../../serve/ops.ts';
import type { Role } from '../roles.ts';

/** What crosses between the supervisor and its processes. Checked by types on both sides. */

export type ToProcess =
  | ({ readonly kind: 'begin' } & ProcessOptions)
  /** The verdicts of one `take`, in its order. */
  | { readonly kind: 'taken'; readonly id: number; readonly verdicts: readonly RateVerdict[] }
  /** Another process stored something that waits to be parsed. */
  | { readonly kind: 'wake' }
  | { readonly kind: 'tell'; readonly id: number; readonly what: keyof Told }
  /** Answer what is under way, and end. */
  | { readonly kind: 'stop' };

/** The first message that a process gets; what is secret in it is for no command line. */
export interface ProcessOptions {
  readonly roles: readonly Role[];
  readonly isFirst: boolean;
  /** Its share of the machine's. */
  readonly parseThreads: number;
  /** Of the embedded engine, which the supervisor runs; null: it is where the settings say. */
  readonly engine: ClickHouseAddress | null;
}

export type FromProcess =
  /** It answers at the service's addresses. */
  | { readonly kind: 'ready' }
  /** It cannot start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string }
  | { readonly kind: 'take'; readonly id: number; readonly takes: readonly Take[] }
  | { readonly kind: 'stored' }
  | { readonly kind: 'told'; readonly id: number; readonly answer: Told[keyof Told] };

export interface Take {
  readonly bucket: string;
  readonly rule: RateRule;
}

/** What a process is asked to tell of itself. */
export interface Told {
  readonly health: Health;
  readonly metrics: MetricsSnapshot;
}
