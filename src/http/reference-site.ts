import { ApiError } from '../domain/errors.ts';
import type { AccessKey } from '../domain/nouns.ts';
import type { RequestHead } from './head.ts';

const exposed = [
  ...['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset', 'Retry-After', 'ETag'],
  ...['Idempotency-Replayed', 'Idempotency-Body-Differs', 'Allow', 'WWW-Authenticate'],
].join(', ');

const sendable = [
  ...['Authorization', 'Content-Type', 'Content-Encoding', 'Idempotency-Key', 'If-None-Match'],
  ...['X-Service-Shape-Version', 'Service-Signature', 'Service-Delivery-Id'],
].join(', ');

/**
 * The interactive reference site (specification, "Interactive reference site and demo key"): which
 * requests come from it, and what it may do. CORS is open to its origins alone.
 */
export class ReferenceSite {
  readonly #origins: ReadonlySet<string>;

  /**
   * @param origins scheme, host and port of each, as text
   * @throws Error with one clear line when one is no origin
   */
  constructor(origins: readonly string[]) {
    this.#origins = new Set(origins.map(asBrowsersSendIt));
  }

  /** The site's origin that a request comes from: by `Origin`, else by `Referer`; or null. */
  originOf(head: RequestHead): string | null {
    const origin = head.firstHeader('Origin') ?? originOfUrl(head.firstHeader('Referer'));
    return origin !== null && this.#origins.has(origin) ? origin : null;
  }

  /** Headers for every answer to a request from there, errors too. */
  corsHeaders(head: RequestHead): Readonly<Record<string, string>> {
    const origin = this.originOf(head);
    if (origin === null) return {};
    return {
      'Access-Control-Allow-Origin': origin,
      'Access-Control-Expose-Headers': exposed,
      Vary: 'Origin',
    };
  }

  /** Whether this is a browser asking whether it may ask (Fetch standard, "CORS preflight"). */
  isPreflight(head: RequestHead): boolean {
    return (
      head.method === 'OPTIONS' &&
      this.originOf(head) !== null &&
      head.firstHeader('Access-Control-Request-Method') !== null
    );
  }

  /** @param allow the methods that the path takes */
  preflightHeaders(allow: string): Readonly<Record<string, string>> {
    return {
      'Access-Control-Allow-Methods': allow,
      'Access-Control-Allow-Headers': sendable,
      'Access-Control-Max-Age': '600',
    };
  }

  /** @throws ApiError 403 for a production key: the site takes sandbox and demo keys only */
  requireSandbox(head: RequestHead, key: Pick<AccessKey, 'sandbox' | 'demo'>): void {
    if (this.originOf(head) !== null && !key.sandbox && !key.demo) {
      const message = 'The reference site takes sandbox keys only.';
      throw new ApiError(403, 'docs_origin_needs_sandbox', message);
    }
  }
}

/** In lower case, without a port that goes without saying, without a slash at its end. */
function asBrowsersSendIt(origin: string): string {
  const url = URL.parse(origin);
  const bare = url && url.pathname === '/' && url.search + url.hash + url.username === '';
  if (!bare || !/^https?:$/.test(url.protocol)) {
    throw new Error(`WEIR_DOCS_ORIGIN: ${origin} is no origin such as https://docs.example.com`);
  }
  return url.origin;
}

function originOfUrl(referer: string | null): string | null {
  return referer === null ? null : (URL.parse(referer)?.origin ?? null);
}
