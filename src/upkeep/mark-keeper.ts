import type { ArtifactStore } from '../artifacts/artifacts.ts';
import type { Upkeep } from '../catalog/upkeep-contract.ts';
import { ApiError } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { encodeMark, type Fit, judgeMark, unfitReasons } from '../domain/store-mark.ts';

export interface MarkParts {
  readonly artifacts: Pick<ArtifactStore, 'readMark' | 'writeMark'>;
  readonly upkeep: Pick<Upkeep, 'standing'>;
  readonly log: {
    info(fields: object, message: string): void;
    warn(fields: object, message: string): void;
    error(fields: object, message: string): void;
  };
}

/**
 * Keeps the store's mark up to what the catalog has, and refuses deliveries while the catalog is
 * behind it: a receipt given then would take the place of one that was given already.
 *
 * States: `accepting` (the catalog fits; the mark follows new receipts, at most `markEveryMs`
 * later) ⇄ `refusing` (it does not; looked at again every `markEveryMs`, until `weir recover` has
 * brought the catalog up to the store).
 *
 * Ordering: the mark is written after the receipts that it counts, so that a crash in between
 * leaves it behind the catalog and never before it. It is read before the catalog is, since
 * another process may write it in between.
 *
 * Failure: a mark that could not be written is written later; a backup taken in that time and
 * restored is not noticed as one, which is why `weir recover` is run after every restore.
 */
export class MarkKeeper {
  readonly #parts: MarkParts;
  #fit: Fit = 'fits';
  #stale = false;
  #failing = false;
  #working: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;

  constructor(parts: MarkParts) {
    this.#parts = parts;
  }

  /**
   * Judges the catalog, and begins to keep the mark.
   *
   * @throws Error with one clear line when the store belongs to another catalog; StoreAway
   */
  async start(everyMs: number = limits.markEveryMs): Promise<void> {
    await this.#look(false);
    if (this.#fit === 'foreign') throw new Error(unfitReasons.foreign);
    // A store that can only be read, since it is full, is no reason not to start: reads go on.
    this.#stale = true;
    await this.#tryToLook();
    this.#timer = setInterval(() => this.#tick(), everyMs);
  }

  /** Why no delivery is accepted; null: they are. */
  get refusal(): string | null {
    return this.#fit === 'fits' ? null : unfitReasons[this.#fit];
  }

  /** @throws ApiError 503 while no delivery is accepted */
  requireAccepting(): void {
    if (this.refusal === null) return;
    throw new ApiError(503, 'internal', 'The service takes no deliveries at the moment.', {
      headers: { 'Retry-After': '60' },
      cause: new Error(this.refusal),
    });
  }

  /** A receipt was given. */
  noteReceipt(): void {
    this.#stale = true;
  }

  /** @returns the time by the store's clock; null while the catalog does not fit */
  async storeTime(): Promise<number | null> {
    await this.#working;
    return this.#look(true);
  }

  /** Writes the mark a last time. */
  async stop(): Promise<void> {
    if (this.#timer) clearInterval(this.#timer);
    await this.#working;
    if (this.#stale) await this.#tryToLook();
  }

  #tick(): void {
    if (this.#fit === 'fits' && !this.#stale) return;
    this.#working ??= this.#tryToLook().finally(() => {
      this.#working = null;
    });
  }

  async #tryToLook(): Promise<void> {
    const stale = this.#stale;
    this.#stale = false;
    try {
      await this.#look(stale);
      this.#failing = false;
    } catch (err) {
      this.#stale = stale;
      // Told once: a store that is away is told about elsewhere, too.
      if (!this.#failing) this.#parts.log.warn({ err }, 'the mark of the store is not kept');
      this.#failing = true;
    }
  }

  async #look(write: boolean): Promise<number | null> {
    const { artifacts, upkeep } = this.#parts;
    const text = await artifacts.readMark();
    const { catalogId, sequence } = await upkeep.standing();
    this.#enter(judgeMark(text, { catalogId, sequence }));
    if (this.#fit !== 'fits' || !write) return null;
    return artifacts.writeMark(encodeMark({ catalogId, sequence, recovering: false }));
  }

  #enter(fit: Fit): void {
    const before = this.#fit;
    this.#fit = fit;
    if (fit === before) return;
    const { log } = this.#parts;
    if (fit === 'fits') log.info({}, 'the catalog fits its store: deliveries are accepted again');
    else log.error({}, `no delivery is accepted: ${unfitReasons[fit]}`);
  }
}
