import type { RejectedLately } from './source-summaries-contract.ts';
import type { Damage } from './upkeep-contract.ts';

/** How a company's deliveries go, in figures (`Catalog`). Times are milliseconds since 1970. */
export interface CompanyFigures {
  /** @param sandbox whether sandbox deliveries count too */
  figures(companyId: string, want: { sandbox: boolean; now: number }): Promise<Figures>;
  /** Of the company's deliveries, the newest `limit` that are damaged, and how many are. */
  damaged(companyId: string, limit: number): Promise<{ count: number; newest: DamagedDelivery[] }>;
  /** The round of checks over all stored artifacts; null: none has begun. */
  round(): Promise<{ beganAt: number; over: boolean } | null>;
  /** Keeps the result of a check in the place of the one before. */
  noteCheck(result: CheckResult): Promise<void>;
  /** Results, as far as there are any; `differences` are those of the company. */
  checks(companyId: string): Promise<CompanyCheck[]>;
}

export interface Figures {
  readonly sources: number;
  /** Received in each of the last fifteen minutes, the one that is under way first. */
  readonly minutes: readonly { readonly deliveries: number; readonly bytes: number }[];
  /**
   * From receipt to readable, of deliveries received in these minutes and not parsed again; null:
   * there is none. Of many, every so-manieth is looked at.
   */
  readonly lag: {
    readonly lookedAt: number;
    readonly medianMs: number;
    readonly p95Ms: number;
  } | null;
  /** Those that wait or are being parsed, counted up to `countedMax`. */
  readonly backlog: { readonly deliveries: number; readonly oldestReceivedAt: number | null };
  /** Of deliveries received in the last 24 hours. */
  readonly rejected: RejectedLately;
}

export interface DamagedDelivery {
  readonly artifactId: string;
  readonly sourceId: string;
  readonly damage: Damage;
  readonly checkedAt: number;
}

export interface CheckResult {
  readonly check: 'verify' | 'rebuild';
  readonly at: number;
  readonly ms: number;
  /** Of a rebuild: the samples made anew are the ones in use. */
  readonly swapped: boolean;
  /** How many by source id; '' stands for what is about no source. */
  readonly differences: Readonly<Record<string, number>>;
}

export type CompanyCheck = Omit<CheckResult, 'differences'> & { readonly differences: number };
