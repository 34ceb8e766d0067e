import { createHash } from 'node:crypto';
import type { StoredDelivery } from './catalog-bed.ts';
import type { SourceName } from './fixtures.ts';
import type { Durable } from './node.ts';
import { type ExpectedSample, type Intent, isGood, samplesIn } from './requests.ts';
import type { SampleRow } from './sample-rows.ts';
import type { Sent } from './senders.ts';

/** What is promised of a run that is over; each sentence is one promise that was broken. */
export function findProblems(durable: Durable, sent: readonly Sent[]): readonly string[] {
  const deliveries = durable.catalog.deliveries();
  const byArtifact = new Map(deliveries.map((one) => [one.artifactId, one]));
  return [
    ...answerProblems(sent, byArtifact),
    ...orderProblems(sent, byArtifact),
    ...deliveries.flatMap((one) => deliveryProblems(durable, sent, one)),
    ...onceProblems(deliveries),
    ...rowProblems(durable, sent, byArtifact),
    ...orphanProblems(durable, deliveries),
  ];
}

type ByArtifact = ReadonlyMap<string, StoredDelivery>;

function answerProblems(sent: readonly Sent[], byArtifact: ByArtifact): string[] {
  const problems: string[] = [];
  const receipts = new Map<string, string>();
  for (const { intent, answers, statuses } of sent) {
    const about = `${intent.source} ${intent.key}`;
    if (answers.length === 0) problems.push(`${about} has no answer that is final`);
    if (statuses.includes(500)) problems.push(`${about} was answered 500`);
    for (const { answer } of answers) {
      if (answer.status !== 202) {
        if (!intent.isRefused) problems.push(`${about} was refused: ${answer.body}`);
        continue;
      }
      const name = JSON.stringify([intent.source, intent.sandbox, intent.key]);
      const first = receipts.get(name) ?? answer.body;
      receipts.set(name, first);
      if (first !== answer.body) problems.push(`${about} has two receipts: ${first}${answer.body}`);
      const stored = byArtifact.get(artifactOf(answer.body));
      if (!stored) problems.push(`lost: ${about} has a receipt and no delivery`);
      else problems.push(...receiptProblems(about, intent, stored, answer.headers));
    }
  }
  return problems;
}

function receiptProblems(
  about: string,
  intent: Intent,
  stored: StoredDelivery,
  headers: Readonly<Record<string, string>>,
): string[] {
  const problems: string[] = [];
  if (stored.source !== intent.source || stored.sandbox !== intent.sandbox) {
    problems.push(`${about} was given the receipt of another source`);
  }
  if (!stored.keys.includes(intent.key)) problems.push(`${about} names no delivery`);
  const differs = stored.sha256 !== intent.sha256;
  if (differs !== (headers['Idempotency-Body-Differs'] === 'true')) {
    problems.push(`${about} was not told whether its bytes differ`);
  }
  if (differs && stored.conflicts === 0) problems.push(`${about} is a conflict not counted`);
  return problems;
}

/** What is sent after another had its receipt is accepted after it. */
function orderProblems(sent: readonly Sent[], byArtifact: ByArtifact): string[] {
  const firsts = new Map<string, { begunAt: number; answeredAt: number }>();
  for (const { begunAt, answers } of sent) {
    for (const { at, answer } of answers) {
      if (answer.status !== 202) continue;
      const artifact = artifactOf(answer.body);
      const known = firsts.get(artifact) ?? { begunAt, answeredAt: at };
      firsts.set(artifact, {
        begunAt: Math.min(known.begunAt, begunAt),
        answeredAt: Math.min(known.answeredAt, at),
      });
    }
  }
  const all = [...firsts].map(([artifact, times]) => ({
    ...times,
    sequence: byArtifact.get(artifact)?.sequence ?? 0,
  }));
  return all.flatMap((a) =>
    all
      .filter((b) => a.answeredAt < b.begunAt && a.sequence >= b.sequence)
      .map((b) => `${b.sequence} was sent after ${a.sequence} had its receipt`),
  );
}

function deliveryProblems(
  { objects }: Durable,
  sent: readonly Sent[],
  stored: StoredDelivery,
): string[] {
  const about = `delivery ${stored.sequence}`;
  const intent = intentOf(sent, stored);
  if (!intent) return [`invented: ${about} was sent by nobody, or refused`];
  const problems: string[] = [];
  const names = new Set(
    sent
      .map((one) => one.intent)
      .filter(({ source, sandbox }) => source === stored.source && sandbox === stored.sandbox)
      .map(({ key }) => key),
  );
  if (!stored.keys.every((key) => names.has(key))) problems.push(`${about} has an invented name`);
  const end = stored.offset + stored.length;
  const bytes = objects.bytes.get(stored.object)?.subarray(stored.offset, end);
  const sum = createHash('sha256')
    .update(bytes ?? '')
    .digest('hex');
  if (sum !== stored.sha256) problems.push(`lost: the bytes of ${about} are not there`);
  const expected = countsOf(intent, stored.version);
  const { status, records, parsed, rejected, samples, supersededWithin } = stored;
  const found = { status, records, parsed, rejected, samples, supersededWithin };
  if (JSON.stringify(found) !== JSON.stringify(expected)) {
    problems.push(`${about} is ${JSON.stringify(found)} and not ${JSON.stringify(expected)}`);
  }
  return problems;
}

function countsOf(intent: Intent, version: 1 | 2) {
  const { length: records } = intent.lines;
  const parsed = intent.lines.filter((line) => isGood(line, version)).length;
  const distinct = new Set(samplesIn(intent, version).map(identity));
  return {
    ...{ status: parsed === 0 ? 'rejected' : 'parsed', records, parsed },
    ...{ rejected: records - parsed, samples: distinct.size },
    supersededWithin: parsed - distinct.size,
  };
}

function onceProblems(deliveries: readonly StoredDelivery[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  for (const { source, sandbox, sha256, keys, sequence } of deliveries) {
    for (const what of [sha256, ...keys.map((key) => `key ${key}`)]) {
      const name = JSON.stringify([source, sandbox, what]);
      if (seen.has(name)) problems.push(`twice: ${what} of delivery ${sequence}`);
      seen.add(name);
    }
  }
  return problems;
}

/** Every row comes from a delivery; those of the generation that stands are what its bytes say. */
function rowProblems({ rows }: Durable, sent: readonly Sent[], byArtifact: ByArtifact): string[] {
  const problems: string[] = [];
  const standing = new Map<string, SampleRow[]>();
  for (const versions of rows.versions.values()) {
    for (const row of versions.values()) {
      const stored = byArtifact.get(row.artifactId);
      if (!stored || stored.sequence !== row.sequence || stored.sandbox !== row.sandbox) {
        problems.push(`invented: a row of ${row.artifactId}`);
      } else if (row.generation === stored.generation) {
        standing.set(stored.artifactId, [...(standing.get(stored.artifactId) ?? []), row]);
      }
    }
  }
  for (const stored of byArtifact.values()) {
    const intent = intentOf(sent, stored);
    const expected = intent ? samplesIn(intent, stored.version).map(rowText).sort() : [];
    const found = (standing.get(stored.artifactId) ?? [])
      .map((row) => rowText({ ...row, day: dateOf(row.day) }))
      .sort();
    if (JSON.stringify(found) !== JSON.stringify(expected)) {
      problems.push(`rows of delivery ${stored.sequence}: ${found} and not ${expected}`);
    }
  }
  return problems;
}

/** Only who was killed, or could not hear what became of a claim, leaves an object over. */
function orphanProblems({ objects }: Durable, deliveries: readonly StoredDelivery[]): string[] {
  const used = new Set(deliveries.map(({ object }) => object));
  const orphans = [...objects.bytes.keys()].filter((object) => !used.has(object));
  return orphans
    .filter((object) => !objects.owners.get(object)!.isTroubled)
    .map((object) => `nothing failed, and ${object} is an orphan`);
}

interface ReadSample {
  readonly metric: string;
  readonly period_start: string;
  readonly value: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
  readonly artifact_id: string;
}

/**
 * What a window read shows: the later accepted delivery wins, inside a delivery the later record
 * (DECISIONS 3).
 *
 * @param deliveries as they stood when the read began
 * @param how `at least`: what was final then is shown, unless something later is
 */
export function readProblems(
  source: SourceName,
  deliveries: readonly StoredDelivery[],
  sent: readonly Sent[],
  body: string,
  how: 'exactly' | 'at least',
): string[] {
  const shown = (JSON.parse(body) as { samples: ReadSample[] }).samples;
  const sequences = new Map(deliveries.map((one) => [one.artifactId, one.sequence]));
  const live = new Map<string, { sequence: number; value: string }>();
  for (const stored of deliveries) {
    if (stored.source !== source || stored.status !== 'parsed') continue;
    const intent = intentOf(sent, stored);
    for (const sample of intent ? samplesIn(intent, stored.version) : []) {
      const { sequence, sandbox } = stored;
      live.set(`${identity(sample)} ${sandbox}`, { sequence, value: sample.value });
    }
  }
  const found = new Map(
    shown.map((one) => {
      const labels = JSON.stringify(one.labels);
      const name = identity({ day: one.period_start, metric: one.metric, labels });
      const sequence = sequences.get(one.artifact_id);
      return [`${name} ${one.sandbox}`, { sequence, value: one.value }];
    }),
  );
  const problems: string[] = [];
  for (const [name, expected] of live) {
    const read = found.get(name);
    const isSame = read?.sequence === expected.sequence && read.value === expected.value;
    // One that was not final when the read began, or not there yet.
    const isLater = read && (read.sequence === undefined || read.sequence > expected.sequence);
    if (isSame || (how === 'at least' && isLater)) continue;
    problems.push(
      `a read of ${source} shows ${JSON.stringify(read)} for ${name}, ` +
        `and not ${JSON.stringify(expected)}`,
    );
  }
  if (how === 'exactly' && found.size !== live.size) {
    problems.push(`a read of ${source} shows ${found.size} samples, and not ${live.size}`);
  }
  return problems;
}

/** What was sent with these bytes, and was not to be refused. */
function intentOf(sent: readonly Sent[], stored: StoredDelivery): Intent | undefined {
  return sent
    .map((one) => one.intent)
    .find(
      ({ source, sandbox, sha256, isRefused }) =>
        source === stored.source &&
        sandbox === stored.sandbox &&
        sha256 === stored.sha256 &&
        !isRefused,
    );
}

function identity({ day, metric, labels }: Pick<ExpectedSample, 'day' | 'metric' | 'labels'>) {
  return [day, metric, labels].join(' ');
}

function rowText(row: Pick<ExpectedSample, 'day' | 'metric' | 'labels' | 'value' | 'record'>) {
  return [row.record, row.day, row.metric, row.labels, row.value].join(' ');
}

function dateOf(day: number): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

function artifactOf(receipt: string): string {
  return (JSON.parse(receipt) as { artifact_id: string }).artifact_id;
}
