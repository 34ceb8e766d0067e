import type { AnswerOf, BodyOf } from '../domain/api/app/endpoint.ts';
import { address, type Query } from './address.ts';

/** What the app API refuses: its Error object, and the status. */
export class Refused extends Error {
  override readonly name = 'Refused';
  readonly status: number;
  readonly code: string;
  /** What of the request it is about. */
  readonly field: string | undefined;
  /** One word of the catalog's, where `code` is `conflict` or `not_found`. */
  readonly reason: string | undefined;

  constructor(status: number, error: { code: string; message: string; field?: string }) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.field = error.field;
    this.reason = (error as { reason?: string }).reason;
  }
}

/** Set by the page's frame: asks for the passkey in place; false when the user gives up. */
let confirmPasskey: () => Promise<boolean> = async () => false;
/** Set by the page's frame: the session has ended. */
let onSignedOut: () => void = () => {};

export function connectFrame(frame: {
  confirmPasskey(): Promise<boolean>;
  onSignedOut(): void;
}): void {
  confirmPasskey = frame.confirmPasskey;
  onSignedOut = frame.onSignedOut;
}

export { address };

/**
 * Reads from the app API; `E` is the type of the endpoint's declaration. The browser sends
 * `If-None-Match` by itself, so that a repeated read of what has not changed costs little.
 *
 * @throws Refused
 */
export function get<E>(
  path: string,
  query: Query = {},
  signal?: AbortSignal,
): Promise<AnswerOf<E>> {
  return call<AnswerOf<E>>('GET', address(path, query), undefined, signal);
}

/**
 * Changes something. Where that needs a fresh passkey check, the user is asked for it in place,
 * and the same request is sent again.
 *
 * @throws Refused
 */
export async function post<E>(path: string, body: BodyOf<E> | undefined): Promise<AnswerOf<E>> {
  try {
    return await call<AnswerOf<E>>('POST', path, body);
  } catch (error) {
    const stale = error instanceof Refused && error.code === 'fresh_sign_in_needed';
    if (!stale || !(await confirmPasskey())) throw error;
    return await call<AnswerOf<E>>('POST', path, body);
  }
}

async function call<A>(
  method: string,
  url: string,
  body: unknown,
  signal?: AbortSignal,
): Promise<A> {
  const sent: HeadersInit = body === undefined ? {} : { 'Content-Type': 'application/json' };
  const text = body === undefined ? null : JSON.stringify(body);
  const answer = await fetch(url, { method, headers: sent, body: text, signal: signal ?? null });
  const json = await answer.json().catch(() => null);
  if (answer.ok) return json as A;
  const unknown = { code: 'unknown', message: 'The service did not answer as expected.' };
  const refused = new Refused(answer.status, json ?? unknown);
  if (refused.code === 'sign_in_needed') onSignedOut();
  throw refused;
}
