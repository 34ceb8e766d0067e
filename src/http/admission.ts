import type { KeyHolder, Lookup } from '../catalog/catalog.ts';
import { ApiError } from '../domain/errors.ts';
import type { RateRule, RateVerdict } from '../domain/rates.ts';
import type { Rates } from '../rates/rates.ts';
import type { Clock } from '../std/clock.ts';
import { callerOf } from './caller.ts';
import type { ClientAddress } from './client-address.ts';
import type { Exchange } from './exchange.ts';
import type { ReferenceSite } from './reference-site.ts';

/** What the door of the key endpoints needs of the world. */
export interface AdmissionParts {
  readonly lookup: Pick<Lookup, 'key'>;
  readonly rates: Rates;
  /** Of a key. */
  readonly keyRate: RateRule;
  /** Of the demo key, for each network of clients. */
  readonly demoRate: RateRule;
  readonly site: ReferenceSite;
  readonly addresses: ClientAddress;
  /** A demo deployment: it alone takes demo keys, and it takes no delivery. */
  readonly demo: boolean;
  /** A key was used; recorded off the hot path. */
  noteUse(keyId: string, now: number): void;
  readonly clock: Clock;
}

export interface Admitted {
  readonly holder: KeyHolder;
  readonly now: number;
}

/**
 * Lets a request with a key in, or refuses it (DECISIONS 6): key → reference site → scope → rate.
 * Everything is judged once, now that the head is complete. What is refused here has read no byte
 * of the body and recorded no use.
 *
 * @param judge throws when the key may not make this call
 * @throws ApiError 401, 403, 429
 */
export async function admit(
  parts: AdmissionParts,
  exchange: Exchange,
  judge: (holder: KeyHolder) => void,
): Promise<Admitted> {
  const now = parts.clock();
  const { head } = exchange;
  const holder = await callerOf(head, parts, now);
  parts.site.requireSandbox(head, holder.key);
  judge(holder);
  const verdict = holder.key.demo
    ? await parts.rates.take(`demo:${networkOf(parts, exchange)}`, parts.demoRate)
    : await parts.rates.take(`key:${holder.key.keyId}`, parts.keyRate);
  requireRate(exchange, verdict);
  exchange.onAnswer((status) => {
    if (status < 400) parts.noteUse(holder.key.keyId, now);
  });
  return { holder, now };
}

function networkOf(parts: AdmissionParts, exchange: Exchange): string {
  const { remoteAddress, head } = exchange;
  return parts.addresses.networkOf({
    remoteAddress,
    forwardedFor: head.listHeader('X-Forwarded-For'),
  });
}

/**
 * Puts the rate's headers on the answer (specification, "Limits").
 *
 * @throws ApiError 429 with `Retry-After`
 */
export function requireRate(exchange: Exchange, verdict: RateVerdict): void {
  exchange.addHeaders({
    'RateLimit-Limit': String(verdict.limit),
    'RateLimit-Remaining': String(verdict.remaining),
    'RateLimit-Reset': String(verdict.resetSeconds),
  });
  if (!verdict.admitted) {
    throw new ApiError(429, 'rate_limited', 'Too many requests.', {
      headers: { 'Retry-After': String(verdict.retryAfterSeconds) },
    });
  }
}
