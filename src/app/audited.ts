import type { Audit } from '../catalog/audit-contract.ts';
import type { SignedIn } from './session.ts';

export interface Act {
  /** Such as `key revoke`. */
  readonly action: string;
  readonly by: Pick<SignedIn, 'user' | 'company'> | null;
  readonly params: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly now: number;
}

/**
 * Does `work` as an act that stands in the audit log. The entry is durable before the work begins,
 * so that nothing is done without one; work that fails gets a second entry with `failed`.
 */
export async function audited<T>(
  audit: Pick<Audit, 'note'>,
  { action, by, params, body, now }: Act,
  work: () => Promise<T>,
): Promise<T> {
  const company = by === null ? {} : { company_id: by.company.companyId };
  const about = { ...company, ...params, ...plainOf(body) };
  const entry = { at: now, actor: by?.user.userId ?? 'nobody', action };
  await audit.note({ ...entry, about });
  try {
    return await work();
  } catch (error) {
    const { code, name } = error as { code?: unknown; name?: unknown };
    await audit.note({ ...entry, about: { ...about, failed: String(code ?? name) } });
    throw error;
  }
}

/** Plain options only; fields of a shape and credentials are no part of the log. */
function plainOf(body: unknown): Record<string, unknown> {
  if (typeof body !== 'object' || body === null) return {};
  const kept = Object.entries(body).filter(
    ([name, value]) => name !== 'token' && ['string', 'number', 'boolean'].includes(typeof value),
  );
  return Object.fromEntries(kept);
}
