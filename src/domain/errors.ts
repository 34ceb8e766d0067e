/**
 * The one table of errors (specification, "Errors"; DECISIONS 6): what a code means, with which
 * statuses it comes, whether the same request may be sent again, and what the caller should do.
 * What is thrown, the OpenAPI document and the README's table are all made of it.
 */
export const errorTable = {
  invalid_argument: {
    statuses: [400, 413],
    retry: false,
    means: 'Something in the request is malformed, missing or too large; `field` names it.',
    hint: 'Fix what `field` names; for 413 split the delivery, each part with its own key.',
    example: { message: 'The shape version is missing.', field: 'shape_version' },
  },
  unauthenticated: {
    statuses: [401],
    retry: false,
    means: 'The key is missing, unknown, revoked or expired; a webhook has no signature header.',
    hint: 'Send a key that exists and has neither expired nor been revoked; sign the webhook.',
    example: { message: 'A valid access key is needed.' },
  },
  insufficient_scope: {
    statuses: [403],
    retry: false,
    means: "The key's scope, or what its source or deployment takes, does not allow the call.",
    hint: 'Use a key whose scope allows the call.',
    example: { message: "This key's scope does not allow this call." },
  },
  docs_origin_needs_sandbox: {
    statuses: [403],
    retry: false,
    means: 'A production key was sent from the interactive reference site.',
    hint: 'From the reference site use a sandbox key.',
    example: { message: 'The reference site takes sandbox keys only.' },
  },
  not_found: {
    statuses: [404],
    retry: false,
    means:
      'Nothing is at this address; the source has no such delivery; or address and signature ' +
      'open no webhook source (no such source, no webhook source, wrong secret: one answer).',
    hint: 'Check the address, and the signing secret of a webhook.',
    example: { message: 'There is nothing at this address.' },
  },
  method_not_allowed: {
    statuses: [405],
    retry: false,
    means: 'The address is known and does not take this method.',
    hint: 'Use a method that `Allow` names.',
    example: { message: 'This address does not take this method.' },
  },
  too_large: {
    statuses: [413],
    retry: false,
    means: 'The body of a webhook has more than 8388608 bytes.',
    hint: 'Split the delivery into smaller ones, each with its own id.',
    example: { message: 'A delivery has at most 8388608 bytes.', field: 'body' },
  },
  unsupported_media_type: {
    statuses: [415],
    retry: false,
    means: 'The body of a webhook is neither JSON nor CSV.',
    hint: 'Send application/json or text/csv.',
    example: { message: 'A webhook is application/json or text/csv.' },
  },
  rate_limited: {
    statuses: [429],
    retry: true,
    means: 'Too many requests on the key, or deliveries on the webhook source.',
    hint: 'Wait the seconds of `Retry-After`, then send the same request again.',
    example: { message: 'Too many requests.' },
  },
  internal: {
    statuses: [500, 503],
    retry: true,
    means: 'The service could not do it; 503 while a store is away or too many bodies wait.',
    hint: 'Send the same request again, with the same idempotency key and growing waits.',
    example: { message: 'The service cannot do this at the moment. Try again.' },
  },
} as const satisfies Record<string, ErrorRow>;

interface ErrorRow {
  readonly statuses: readonly number[];
  readonly retry: boolean;
  readonly means: string;
  readonly hint: string;
  readonly example: { readonly message: string; readonly field?: string };
}

/** What `field` of an error names; within a payload `payload.<name>`. */
export const errorFields = [
  ...['idempotency_key', 'shape_version', 'payload', 'body', 'from', 'to', 'sandbox'],
  ...['Authorization', 'Idempotency-Key', 'X-Service-Shape-Version', 'If-None-Match'],
  ...['Service-Signature', 'Service-Delivery-Id', 'Content-Type', 'Content-Encoding'],
  ...['Content-Length', 'Transfer-Encoding', 'Accept-Encoding'],
] as const;

export type ErrorCode = keyof typeof errorTable;

/** A status and a code that come together, as the table has them. */
export type Refusal = {
  [C in ErrorCode]: readonly [status: (typeof errorTable)[C]['statuses'][number], code: C];
}[ErrorCode];

interface ErrorExtras {
  readonly field?: string;
  readonly headers?: Record<string, string>;
  readonly close?: boolean;
  readonly cause?: unknown;
}

/** A refusal that goes out as its status and a JSON object of code, message and field. */
export abstract class ToldError extends Error {
  abstract readonly status: number;
  abstract readonly headers: Readonly<Record<string, string>>;
  /** The connection cannot go on after this answer. */
  abstract readonly close: boolean;
  abstract json(): string;
}

type ApiErrorArguments = readonly [...Refusal, message: string, more?: ErrorExtras];

/** A refusal that the caller is told of, as the table and the specification's Error have it. */
export class ApiError extends ToldError {
  override readonly name = 'ApiError';
  readonly status: number;
  readonly code: ErrorCode;
  readonly field: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly close: boolean;

  /**
   * Status and code must stand together in the table.
   *
   * @param message one plain sentence; must not quote what the caller sent
   * @param more `field`: what the error is about; `headers`: sent with it
   */
  constructor(...[status, code, message, more = {}]: ApiErrorArguments) {
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
