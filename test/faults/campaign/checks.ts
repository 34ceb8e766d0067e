import { createHash } from 'node:crypto';
import type { Attempt } from './attempts.ts';
import { bodyOf, refusals } from './bodies.ts';
import { type CatalogDelivery, type Evidence, unreadableBytes } from './evidence.ts';
import {
  bodyName,
  expectedOf,
  isGood,
  type Known,
  known,
  rowsOf,
  sampleText,
  shownOf,
  supersededWithin,
} from './model.ts';
import { sha256Of } from './post.ts';

/** One promise, looked at in every place where it could be broken. */
export interface Check {
  readonly name: CheckName;
  readonly looked: number;
  readonly failures: number;
  /** The first of them, as sentences. */
  readonly told: readonly string[];
}

const toldMax = 5;

/** Counts what is looked at, and what is found. */
class Finding {
  looked = 0;
  failures = 0;
  readonly told: string[] = [];

  that(holds: boolean, otherwise: () => string): void {
    this.looked += 1;
    if (holds) return;
    this.failures += 1;
    if (this.told.length < toldMax) this.told.push(otherwise());
  }
}

/** Every check of the oracle, in the order in which they are told. */
const checks = {
  'bodies are made again': bodiesAreMadeAgain,
  'no loss': noLoss,
  'no invention': noInvention,
  rows: rowsAreThere,
  samples: samplesAreShown,
  once,
  order: inOrder,
  orphans: orphansAreExplained,
  answers: answersAreRight,
  tenancy,
  accounting,
  'stays up': staysUp,
  liveness,
} satisfies Record<string, (of: Known, finding: Finding) => void>;

export type CheckName = keyof typeof checks;

/** Judges a run. Pure: all that it looks at is in the evidence. */
export function judge(evidence: Evidence): Check[] {
  const of = known(evidence);
  return Object.entries(checks).map(([name, look]) => {
    const finding = new Finding();
    look(of, finding);
    const { looked, failures, told } = finding;
    return { name: name as CheckName, looked, failures, told };
  });
}

/** The log does not hold bodies: what is made of its seeds must be what was sent. */
function bodiesAreMadeAgain({ evidence }: Known, finding: Finding): void {
  for (const { attempt, body, sha256, bytes, rows } of evidence.log.attempts) {
    const made = bodyOf(evidence.seed, body);
    const same = sha256Of(made.bytes) === sha256 && made.bytes.length === bytes;
    finding.that(
      same && made.expected.rows.length === rows,
      () => `attempt ${attempt} had another body`,
    );
  }
}

/** Every receipt has its delivery, final, whose bytes are still those that were sent. */
function noLoss(of: Known, finding: Finding): void {
  for (const attempt of of.evidence.log.attempts) {
    if (attempt.end.outcome !== 'ok') continue;
    const lost = lossOf(of, attempt);
    finding.that(lost === null, () => `${named(attempt)}: ${lost}`);
  }
}

function lossOf(of: Known, attempt: Attempt): string | null {
  const delivery = of.deliveryById.get(artifactOf(attempt));
  if (!delivery) return 'its receipt names no delivery';
  if (of.scopeOf(delivery) !== attempt.scope) return 'its delivery is in another scope';
  if (!delivery.keys.includes(attempt.body.key)) return 'its key is not known';
  if (!['parsed', 'rejected'].includes(delivery.status)) return `it is still ${delivery.status}`;
  const stored = of.evidence.stored.get(delivery.artifactId) ?? unreadableBytes;
  if (stored !== delivery.sha256) return `its bytes are ${stored}`;
  return null;
}

/** Nothing is there that nobody sent, or that was refused. */
function noInvention(of: Known, finding: Finding): void {
  for (const delivery of of.evidence.deliveries) {
    const scope = of.scopeOf(delivery);
    const sent = of.byBody.get(bodyName(scope, delivery.sha256)) ?? [];
    const keys = new Set(sent.map((one) => one.body.key));
    const strange = delivery.keys.filter((key) => !keys.has(key));
    finding.that(sent.length > 0, () => `${scope}: nobody sent ${delivery.artifactId}`);
    finding.that(strange.length === 0, () => `${scope}: nobody sent it under ${strange}`);
    finding.that(delivery.keys.length > 0, () => `${delivery.artifactId} has no key`);
  }
}

/** Counts, rejections and a digest of all rows ever parsed are those of the senders' model. */
function rowsAreThere(of: Known, finding: Finding): void {
  const { deliveries, rows, rejections } = of.evidence;
  const bySource = new Map<string, string[]>();
  for (const delivery of deliveries) {
    const expected = expectedOf(of, delivery);
    if (expected === null) continue; // Told as an invention.
    const within = supersededWithin(expected);
    const { records, rejected, blank, status } = expected;
    const counts = { records, parsed: records - rejected, rejected, blank, status };
    const wanted = { ...counts, samples: expected.rows.length - within, supersededWithin: within };
    const found = Object.fromEntries(
      Object.keys(wanted).map((name) => [name, delivery[name as keyof CatalogDelivery]]),
    );
    const [a, b] = [JSON.stringify(found), JSON.stringify(wanted)];
    finding.that(a === b, () => `${delivery.artifactId} has ${a}, not ${b}`);
    const told = rejections.get(delivery.artifactId) ?? 0;
    finding.that(
      told === expected.rejections,
      () => `${delivery.artifactId} has ${told} rejections, not ${expected.rejections}`,
    );
    const own = bySource.get(delivery.sourceId) ?? [];
    for (const row of rowsOf(delivery, expected)) own.push(row);
    bySource.set(delivery.sourceId, own);
  }
  for (const [sourceId, found] of rows) compareRows(finding, found, bySource.get(sourceId) ?? []);
}

function compareRows(finding: Finding, found: readonly string[], model: readonly string[]): void {
  finding.that(digestOf(found) === digestOf(model), () => {
    const wanted = new Set(model);
    const more = found.filter((row) => !wanted.delete(row));
    const [missing] = wanted;
    return `${wanted.size} rows are missing (${missing}), ${more.length} too many (${more[0]})`;
  });
}

function digestOf(rows: readonly string[]): string {
  const hash = createHash('sha256');
  for (const row of rows) hash.update(row).update('\n');
  return hash.digest('hex');
}

/** What the API shows is what the later accepted delivery said, newest first. */
function samplesAreShown(of: Known, finding: Finding): void {
  for (const [sourceId, shown] of of.evidence.samples) {
    const found = shown.map(sampleText).sort();
    compareRows(finding, found, shownOf(of, sourceId));
    const periods = shown.map((sample) => sample.period_start);
    const isNewestFirst = periods.every((day, i) => i === 0 || day <= periods[i - 1]!);
    finding.that(isNewestFirst, () => `${sourceId}: the newest do not come first`);
  }
}

/** One delivery for each key and each body of a scope, and one receipt of it, byte for byte. */
function once(of: Known, finding: Finding): void {
  const { deliveries, log, conflicts } = of.evidence;
  const seen = new Set<string>();
  for (const delivery of deliveries) {
    const scope = of.scopeOf(delivery);
    const names = [`body ${delivery.sha256}`, ...delivery.keys.map((key) => `key ${key}`)];
    for (const name of names) {
      finding.that(!seen.has(`${scope} ${name}`), () => `${scope} has ${name} twice`);
      seen.add(`${scope} ${name}`);
    }
  }
  const counted = new Set(conflicts.map((one) => `${one.sequence} ${one.key} ${one.sha256}`));
  const receipts = new Map<string, string>();
  const first = new Set<string>();
  for (const attempt of log.attempts) {
    const { receipt, outcome, replayed, differs } = attempt.end;
    if (outcome !== 'ok' || receipt === null) continue;
    const delivery = of.deliveryById.get(artifactOf(attempt));
    if (!delivery) continue; // Told as a loss.
    const { artifactId, sequence } = delivery;
    const before = receipts.get(artifactId) ?? receipt;
    receipts.set(artifactId, before);
    finding.that(receipt === before, () => `${named(attempt)} has another receipt`);
    const isFirst = !replayed;
    finding.that(!isFirst || !first.has(artifactId), () => `${named(attempt)} is first again`);
    if (isFirst) first.add(artifactId);
    const isOther = delivery.sha256 !== attempt.sha256;
    finding.that(differs === isOther, () => `${named(attempt)}: differs is ${differs}`);
    const conflict = `${sequence} ${attempt.body.key} ${attempt.sha256}`;
    finding.that(!isOther || counted.has(conflict), () => `${named(attempt)} is not counted`);
  }
}

/** What had its receipt before another was sent comes before it in the accepted order. */
function inOrder(of: Known, finding: Finding): void {
  const { deliveries, log } = of.evidence;
  const answered = new Map<string, number>();
  for (const attempt of log.attempts) {
    if (attempt.end.outcome !== 'ok') continue;
    const id = artifactOf(attempt);
    answered.set(id, Math.min(answered.get(id) ?? Infinity, attempt.endedAt));
  }
  let begun = 0;
  for (const delivery of deliveries) {
    const sent = of.byBody.get(bodyName(of.scopeOf(delivery), delivery.sha256)) ?? [];
    const late = (answered.get(delivery.artifactId) ?? Infinity) < begun;
    finding.that(!late, () => `${delivery.artifactId} is behind one that was sent after it`);
    if (sent.length > 0) begun = Math.max(begun, Math.min(...sent.map((one) => one.beganAt)));
  }
}

/**
 * An object that nothing refers to holds what was sent and not answered; or what came too late in
 * a race, and could not be removed because the store was away.
 */
function orphansAreExplained({ evidence }: Known, finding: Finding): void {
  const { log, orphans, faulted } = evidence;
  const sent = new Map<string, boolean>();
  for (const attempt of log.attempts.filter(isGood)) {
    const { outcome, replayed } = attempt.end;
    const mayStay = outcome === 'unknown' || (faulted && replayed);
    sent.set(attempt.sha256, mayStay || (sent.get(attempt.sha256) ?? false));
  }
  for (const { object, bodies } of orphans) {
    const strange = bodies.filter((sha256) => !sent.has(sha256));
    finding.that(strange.length === 0, () => `${object} holds what nobody sent`);
    const explained = bodies.some((sha256) => sent.get(sha256));
    finding.that(explained, () => `${object} was left without a fault`);
  }
}

/** The answer is the one that this delivery must get, or says that it should be sent again. */
function answersAreRight({ evidence }: Known, finding: Finding): void {
  for (const attempt of evidence.log.attempts) {
    const { outcome, status, retryAfter, receipt } = attempt.end;
    const isRight =
      status === null ||
      (status === 503 && retryAfter) ||
      (attempt.body.refusal === null
        ? outcome === 'ok' && attempt.how === 'whole'
        : status === refusals[attempt.body.refusal].status);
    finding.that(isRight, () => `${named(attempt)} was answered ${status}`);
    if (receipt === null) continue;
    const { artifact_id: _, ...fields } = JSON.parse(receipt);
    const wanted = {
      shape_version: 1,
      status: 'queued',
      sandbox: attempt.scope.endsWith('/sandbox'),
    };
    const same = JSON.stringify(fields) === JSON.stringify(wanted);
    finding.that(same, () => `${named(attempt)} has the receipt ${receipt}`);
  }
  for (const { scope, status } of evidence.log.reads) {
    const isRight = status === null || status === 200 || status === 503;
    finding.that(isRight, () => `a read of ${scope} was answered ${status}`);
  }
}

/** Nobody sees anything of another source, while faults are made and after. */
function tenancy(of: Known, finding: Finding): void {
  const { scopes, log, samples, foreign } = of.evidence;
  const sources = new Map(scopes.map((scope) => [scope.name, scope.sourceId]));
  const isOf = (artifactId: string, sourceId: string | undefined) =>
    of.deliveryById.get(artifactId)?.sourceId === sourceId;
  for (const { scope, artifacts } of log.reads) {
    for (const id of artifacts) {
      finding.that(isOf(id, sources.get(scope)), () => `${scope} was shown ${id}`);
    }
  }
  for (const [sourceId, shown] of samples) {
    for (const { artifact_id: id, sandbox } of shown) {
      const isOwn = isOf(id, sourceId) && of.deliveryById.get(id)?.sandbox === sandbox;
      finding.that(isOwn, () => `${sourceId} is shown ${id}`);
    }
  }
  for (const { artifactId, scope, status } of foreign) {
    finding.that(status === 404, () => `${scope} is answered ${status} about ${artifactId}`);
  }
}

function accounting({ evidence }: Known, finding: Finding): void {
  const { accountingDifference: wrongBy } = evidence;
  finding.that(wrongBy === 0, () => `the service's accounting is wrong by ${wrongBy}`);
}

/** Whatever is away, the service waits for it. */
function staysUp({ evidence }: Known, finding: Finding): void {
  const [last = ''] = evidence.selfEnds;
  finding.that(evidence.selfEnds.length === 0, () => `the service ended by itself: ${last}`);
}

/** The longest wait after failures (60 s), a lease (15 s), and the time for the work. */
export const drainWithinSeconds = 90;

function liveness({ evidence }: Known, finding: Finding): void {
  const { drainedSeconds } = evidence;
  finding.that(
    drainedSeconds !== null && drainedSeconds <= drainWithinSeconds,
    () => `not everything was final ${drainWithinSeconds} s after the last fault`,
  );
}

function artifactOf({ end }: Attempt): string {
  return (JSON.parse(end.receipt ?? '{}') as { artifact_id?: string }).artifact_id ?? '';
}

function named({ attempt, scope, body }: Attempt): string {
  return `attempt ${attempt} (${scope}, key ${body.key})`;
}
