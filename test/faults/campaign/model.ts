import type { Attempt } from './attempts.ts';
import { bodyOf, type Expected } from './bodies.ts';
import type { CatalogDelivery, Evidence, ShownSample } from './evidence.ts';

/** What the senders know, arranged for the checks. */
export interface Known {
  readonly evidence: Evidence;
  /** Attempts that may be stored: whole, good, and not refused; by scope and hash. */
  readonly byBody: ReadonlyMap<string, readonly Attempt[]>;
  readonly deliveryById: ReadonlyMap<string, CatalogDelivery>;
  /** What was expected before, by scope and hash. */
  readonly made: Map<string, Expected>;
  /** The scope of a delivery. */
  scopeOf(delivery: Pick<CatalogDelivery, 'sourceId' | 'sandbox'>): string;
}

export const bodyName = (scope: string, sha256: string) => `${scope} ${sha256}`;

/** Whether an attempt was sent so that it may be stored. */
export function isGood(attempt: Attempt): boolean {
  return attempt.how === 'whole' && attempt.body.refusal === null;
}

export function known(evidence: Evidence): Known {
  const { log, deliveries, scopes } = evidence;
  const stored = log.attempts.filter((one) => isGood(one) && one.end.outcome !== 'refused');
  const names = new Map(scopes.map((one) => [`${one.sourceId} ${one.sandbox}`, one.name]));
  return {
    evidence,
    byBody: Map.groupBy(stored, (one) => bodyName(one.scope, one.sha256)),
    deliveryById: new Map(deliveries.map((one) => [one.artifactId, one])),
    made: new Map(),
    scopeOf: ({ sourceId, sandbox }) => names.get(`${sourceId} ${sandbox}`) ?? 'no scope',
  };
}

/** What the delivery must be parsed to; null when nobody sent it. */
export function expectedOf(of: Known, delivery: CatalogDelivery): Expected | null {
  const name = bodyName(of.scopeOf(delivery), delivery.sha256);
  const sent = of.byBody.get(name);
  if (!sent) return null;
  const expected = of.made.get(name) ?? bodyOf(of.evidence.seed, sent[0]!.body).expected;
  of.made.set(name, expected);
  return expected;
}

/** The rows that a delivery must have left, as the store's text of them. */
export function rowsOf(delivery: CatalogDelivery, { rows }: Expected): string[] {
  const { sequence, artifactId, sandbox } = delivery;
  return rows.map(({ record, metric, period, labels, value }) =>
    [sequence, 0, record, metric, period, JSON.stringify(labels), value, artifactId, sandbox].join(
      '\t',
    ),
  );
}

/** How many of the rows are superseded by later records of the same delivery. */
export function supersededWithin({ rows }: Expected): number {
  const identities = rows.map((row) => JSON.stringify([row.metric, row.period, row.labels]));
  return rows.length - new Set(identities).size;
}

/** The samples of a source that must be shown, each as text: the later accepted delivery wins. */
export function shownOf(of: Known, sourceId: string): string[] {
  const live = new Map<string, string>();
  for (const delivery of of.evidence.deliveries) {
    if (delivery.sourceId !== sourceId) continue;
    const { sandbox, artifactId: artifact_id } = delivery;
    for (const row of expectedOf(of, delivery)?.rows ?? []) {
      const { metric, period: period_start, labels, value } = row;
      const identity = JSON.stringify([sandbox, metric, period_start, labels]);
      const sample = { metric, period_start, value, labels, sandbox, artifact_id };
      live.set(identity, sampleText(sample));
    }
  }
  return [...live.values()].sort();
}

export function sampleText(sample: ShownSample): string {
  const { metric, period_start, value, labels, sandbox, artifact_id } = sample;
  return JSON.stringify([period_start, metric, labels, sandbox, value, artifact_id]);
}
