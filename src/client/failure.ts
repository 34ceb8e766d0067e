export interface FailureDetails {
  /** Of the last answer; absent when none came. */
  readonly status?: number | undefined;
  /** What the answer is about, such as `payload.mrr`. */
  readonly field?: string | undefined;
  /** Requests made; 0 when the delivery was refused before any. */
  readonly attempts?: number;
  readonly cause?: unknown;
}

/**
 * A delivery has no receipt and will get none from further attempts. `code` is the answer's
 * (specification, "Errors"), or one of the sender's own: `too_large`, `unreadable`,
 * `file_changed`, `conflict`, `invalid_argument` before anything is sent; `no_answer`,
 * `no_receipt`, `http_<status>` after.
 */
export class DeliveryFailed extends Error {
  override readonly name = 'DeliveryFailed';
  readonly code: string;
  readonly status: number | undefined;
  readonly field: string | undefined;
  readonly attempts: number;

  constructor(code: string, message: string, details: FailureDetails = {}) {
    super(message, { cause: details.cause });
    this.code = code;
    this.status = details.status;
    this.field = details.field;
    this.attempts = details.attempts ?? 0;
  }
}
