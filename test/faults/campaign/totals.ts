import type { Check, CheckName } from './checks.ts';
import type { Evidence } from './evidence.ts';
import { bodyName, isGood } from './model.ts';

/** The accounting of a run: every attempt is somewhere in it. */
export interface Totals {
  readonly attempts: number;
  readonly ok: number;
  readonly refused: number;
  /** Attempts without an answer, or answered 5xx; most of them were repeated. */
  readonly unknown: number;
  /** Deliveries that never had an answer, and are there, or are not. */
  readonly unknownRecovered: number;
  readonly unknownLost: number;
  readonly deliveries: number;
  /** Rows of samples. */
  readonly rows: number;
  readonly bytes: number;
  /** Reads of samples while faults were made, and how many were answered. */
  readonly reads: number;
  readonly readsAnswered: number;
  /** Objects that nothing refers to; each is explained by an attempt without an answer. */
  readonly orphans: number;
  /** Broken promises. */
  readonly lost: number;
  readonly duplicated: number;
  readonly unexpected: number;
}

export function totalsOf(evidence: Evidence, judged: readonly Check[]): Totals {
  const { attempts, reads } = evidence.log;
  const count = (outcome: string) => attempts.filter((one) => one.end.outcome === outcome).length;
  const failures = (names: readonly CheckName[]) =>
    judged.reduce((sum, one) => sum + (names.includes(one.name) ? one.failures : 0), 0);
  const others = judged.map((one) => one.name).filter((one) => one !== 'no loss' && one !== 'once');
  return {
    ...{ attempts: attempts.length, ok: count('ok'), refused: count('refused') },
    unknown: count('unknown'),
    ...fatesOf(evidence),
    deliveries: evidence.deliveries.length,
    rows: [...evidence.rows.values()].reduce((sum, rows) => sum + rows.length, 0),
    bytes: evidence.deliveries.reduce((sum, one) => sum + one.bytes, 0),
    reads: reads.length,
    readsAnswered: reads.filter((one) => one.status === 200).length,
    orphans: evidence.orphans.length,
    lost: failures(['no loss']),
    duplicated: failures(['once']),
    unexpected: failures(others),
  };
}

/** What became of the deliveries that never had a receipt. */
function fatesOf(evidence: Evidence): Pick<Totals, 'unknownRecovered' | 'unknownLost'> {
  const { log, deliveries, scopes } = evidence;
  const scopeNames = new Map(scopes.map((one) => [`${one.sourceId} ${one.sandbox}`, one.name]));
  const there = new Set<string>();
  for (const { sourceId, sandbox, sha256, keys } of deliveries) {
    const scope = scopeNames.get(`${sourceId} ${sandbox}`) ?? '';
    for (const key of keys) there.add(`${bodyName(scope, sha256)} ${key}`);
  }
  const names = Map.groupBy(
    log.attempts.filter(isGood),
    (one) => `${bodyName(one.scope, one.sha256)} ${one.body.key}`,
  );
  let [unknownRecovered, unknownLost] = [0, 0];
  for (const [name, attempts] of names) {
    if (attempts.some((one) => one.end.outcome !== 'unknown')) continue;
    if (there.has(name)) unknownRecovered += 1;
    else unknownLost += 1;
  }
  return { unknownRecovered, unknownLost };
}
