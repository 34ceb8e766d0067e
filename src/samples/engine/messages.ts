import type { ClickHouseAddress } from '../address.ts';

/** What crosses between the supervisor and the engine process. Checked by types on both sides. */

/** The one argument of the engine process, as JSON. */
export interface EngineOptions {
  readonly dataDir: string;
  /** `host:port` to listen on; absent: a socket file. Port 0 takes a free one. */
  readonly listen?: string;
  /** What the engine may use in all; absent: half of the machine's, 4 GiB at most. */
  readonly memoryBytesMax?: number;
  /** How long to wait for another engine on the directory to end; absent: 10 s. */
  readonly ownerWaitMs?: number;
}

export type EngineMessage =
  | { readonly kind: 'ready'; readonly address: ClickHouseAddress }
  /** It cannot start, and ends. */
  | { readonly kind: 'failed'; readonly reason: string };
