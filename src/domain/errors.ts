/**
 * The one table of errors (specification, "Errors"; DECISIONS 6): what a code means, with which
 * statuses it comes, whether the same request may be sent again, and what the caller should do.
 */
export const errorTable = {
  invalid_argument: {
    statuses: [400, 413],
    retry: false,
    hint: 'Fix what `field` names; for 413 split the delivery, each part with its own key.',
  },
  unauthenticated: {
    statuses: [401],
    retry: false,
    hint: 'Send a key that exists and has neither expired nor been revoked.',
  },
  insufficient_scope: {
    statuses: [403],
    retry: false,
    hint: 'Use a key whose scope allows the call.',
  },
  docs_origin_needs_sandbox: {
    statuses: [403],
    retry: false,
    hint: 'From the reference site use a sandbox key.',
  },
  not_found: {
    statuses: [404],
    retry: false,
    hint: 'Check the address.',
  },
  method_not_allowed: {
    statuses: [405],
    retry: false,
    hint: 'Use a method that `Allow` names.',
  },
  too_large: {
    statuses: [413],
    retry: false,
    hint: 'Split the delivery into smaller ones, each with its own id.',
  },
  unsupported_media_type: {
    statuses: [415],
    retry: false,
    hint: 'Send application/json or text/csv.',
  },
  rate_limited: {
    statuses: [429],
    retry: true,
    hint: 'Wait the seconds of `Retry-After`, then send the same request again.',
  },
  internal: {
    statuses: [500, 503],
    retry: true,
    hint: 'Send the same request again, with the same idempotency key and growing waits.',
  },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  readonly statuses: readonly number[];
  readonly retry: boolean;
  readonly hint: string;
}

export type ErrorCode = keyof typeof errorTable;

interface ErrorExtras {
  readonly field?: string;
  readonly headers?: Record<string, string>;
  readonly close?: boolean;
  readonly cause?: unknown;
}

/** A refusal that the caller is told of, as the table and the specification's Error have it. */
export class ApiError extends Error {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  /** The connection cannot go on after this answer. */
  readonly close: boolean;

  /**
   * @param message one plain sentence; must not quote what the caller sent
   * @param more `field`: what the error is about; `headers`: sent with it
   */
  constructor(status: number, code: ErrorCode, message: string, more: ErrorExtras = {}) {
    super(message, { cause: more.cause });
    this.status = status;
    this.code = code;
    this.field = more.field;
    this.headers = more.headers ?? {};
    this.close = more.close ?? false;
  }

  /** The specification's Error object as JSON text. */
  json(): string {
    return JSON.stringify({ code: this.code, message: this.message, field: this.field });
  }
}

/** 400 `invalid_argument` about one field. */
export function invalid(field: string, message: string): ApiError {
  return new ApiError(400, 'invalid_argument', message, { field });
}
