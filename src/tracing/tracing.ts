import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { WholeBody } from '../artifacts/segment.ts';
import type { Ledger } from '../catalog/catalog.ts';
import type { DeliveryWay } from '../domain/nouns.ts';
import type { ParseAnswer, ParseTask } from '../parse/messages.ts';
import type { EncodedRows } from '../samples/samples.ts';

/**
 * Tells a tracing backend what became of each delivery: `accept` (with `keep` and `commit` in it),
 * `parse` and `insert`. Nothing of it delays or fails a delivery, and none waits for a backend.
 *
 * The trace of a delivery has the delivery's artifact id as its trace id: both are 16 bytes, and
 * ids of version 7 have 62 random bits at their end, where samplers look. The span id of `accept`,
 * from which all else hangs, is the last 8 bytes of it. So whoever knows the artifact id can go on
 * with the trace, in any process and at any time, and the catalog keeps nothing for it; and who has
 * a receipt finds the trace by it. Each parse hangs beside the one before: a retry, or a next
 * generation months later.
 *
 * A sender's trace (`traceparent`, W3C Trace Context) is continued by one span of the request in
 * it. It and the delivery's `accept` name each other as links. The delivery's own spans do not go
 * there: the process that parses could not know of it, and whoever sends may not decide what is
 * recorded. With a `parentbased_` sampler, the default, a sender's "sampled" makes that one span be
 * recorded, no more; with the others it decides nothing. Nothing else that a caller sent is in any
 * span: no text, no header, no `tracestate`, of a failure only its code.
 *
 * Refused requests leave no span, for strangers could fill the queue with them; the metrics count
 * them. A receipt that is given again, or a 5xx, is a trace of its own, the former with a link.
 */
export interface Tracing {
  /** Takes what was answered; null while nothing is traced, so that nothing is noted either. */
  readonly answered: ((answer: Answered) => void) | null;

  /** Wrappers keep the contract of what they are given; off, they give back that itself. */
  uploads<A extends Pick<ArtifactStore, 'begin'>>(artifacts: A): A;
  keeper<K>(keeper: BodyKeeper<K>): BodyKeeper<K>;
  ledger(ledger: Ledger): Ledger;
  pool<P extends Parser>(pool: P): P;
  rows(taker: RowsOfJobs): RowsOfJobs;

  /** Hands over what is still here, for two seconds at most. Never throws. */
  close(): Promise<void>;
}

/** An answer that was given to a request. */
export interface Answered {
  /** When its head had come, by `performance.now()`. */
  readonly began: number;
  readonly method: string;
  /** The route's pattern. */
  readonly route: string;
  readonly status: number;
  /** As it stands in the request; null: none. */
  readonly traceparent: string | null;
  /** What it is the receipt of; without `bytes` when the receipt was given before. */
  readonly receiptOf: {
    readonly artifactId: string;
    readonly delivery?: DeliveryWay;
    readonly bytes?: number;
  } | null;
}

/** Makes small bodies durable together (`accept/segments.ts`). */
export interface BodyKeeper<K> {
  keep(body: WholeBody): Promise<K>;
}

export interface Parser {
  run(task: ParseTask, ...more: never[]): Promise<ParseAnswer>;
}

/** Where the rows of a parsed delivery go (`parse/inserts.ts`). */
export interface RowsOfJobs {
  room(): Promise<void>;
  add(rows: EncodedRows, rowCount: number, job: RowsJob): Promise<void>;
}

export interface RowsJob {
  readonly artifactId: string;
  readonly generation: number;
}

/** Nothing is traced: everything goes through untouched. */
export const noTracing: Tracing = {
  answered: null,
  uploads: (artifacts) => artifacts,
  keeper: (keeper) => keeper,
  ledger: (ledger) => ledger,
  pool: (pool) => pool,
  rows: (taker) => taker,
  close: async () => {},
};
