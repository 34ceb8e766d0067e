import { ToldError } from './errors.ts';

/** The app's own table of errors: what a code means and its status. Its OpenAPI shows it. */
export const appErrorTable = {
  invalid_argument: { status: 400, means: 'Something in the request is malformed; see `field`.' },
  sign_in_needed: { status: 401, means: 'Nobody is signed in, or the session has ended.' },
  fresh_sign_in_needed: {
    status: 403,
    means: 'This needs a passkey check in the last five minutes. Check, then send it again.',
  },
  permission_needed: { status: 403, means: 'The user does not have the permission for this.' },
  origin_refused: { status: 403, means: "The request does not come from the app's own pages." },
  demo_read_only: { status: 403, means: 'A demo deployment can be looked at, not changed.' },
  passkey_refused: {
    status: 403,
    means: 'The passkey is not known here, is of another user, or its challenge is over.',
  },
  not_found: { status: 404, means: 'The company has no such thing.' },
  conflict: { status: 409, means: 'It cannot be done as things stand; `reason` says why.' },
  too_large: { status: 413, means: 'The body is larger than any request of the app.' },
  too_many_tries: { status: 429, means: 'Wait the seconds of `Retry-After`, then try again.' },
} as const;

export type AppErrorCode = keyof typeof appErrorTable;

export interface AppErrorExtras {
  readonly field?: string;
  readonly reason?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly close?: boolean;
}

/** A refusal of the app API. */
export class AppError extends ToldError {
  override readonly name = 'AppError';
  readonly code: AppErrorCode;
  readonly headers: Readonly<Record<string, string>>;
  readonly close: boolean;
  readonly #more: { readonly field?: string; readonly reason?: string };

  /**
   * @param message one plain sentence
   * @param more `field`: what of the request it is about; `reason`: one word of the catalog's;
   *   `headers`: sent with it
   */
  constructor(code: AppErrorCode, message: string, more: AppErrorExtras = {}) {
    super(message);
    this.code = code;
    this.#more = more;
    this.headers = more.headers ?? {};
    this.close = more.close ?? false;
  }

  get status(): number {
    return appErrorTable[this.code].status;
  }

  json(): string {
    const { field, reason } = this.#more;
    return JSON.stringify({ code: this.code, message: this.message, field, reason });
  }
}
