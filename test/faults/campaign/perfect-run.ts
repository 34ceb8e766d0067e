import { v7 } from 'uuid';
import type { Attempt, Ended } from './attempts.ts';
import { bodyOf } from './bodies.ts';
import { Draws, type Scope, type Sending } from './draws.ts';
import type { CatalogDelivery, Evidence } from './evidence.ts';
import { bodyName, expectedOf, isGood, known, rowsOf, shownOf, supersededWithin } from './model.ts';
import { sha256Of } from './post.ts';

/** What can be written to, in every depth that tests damage. */
type Loose<T> = { -readonly [K in keyof T]: T[K] };
export type LooseAttempt = Loose<Omit<Attempt, 'end'>> & { end: Loose<Ended> };
export type LooseDelivery = Loose<Omit<CatalogDelivery, 'keys'>> & { keys: string[] };

export interface LooseEvidence extends Loose<Evidence> {
  log: { attempts: LooseAttempt[]; reads: Loose<Evidence['log']['reads'][number]>[] };
  deliveries: LooseDelivery[];
  conflicts: Evidence['conflicts'][number][];
  stored: Map<string, string>;
  orphans: Evidence['orphans'][number][];
  rows: Map<string, string[]>;
  rejections: Map<string, number>;
  samples: Map<string, Loose<NonNullable<ReturnType<Evidence['samples']['get']>>[number]>[]>;
  foreign: Loose<Evidence['foreign'][number]>[];
}

const kinds = ['push', 'document', 'webhook'] as const;

const scopes: readonly Scope[] = ['acme', 'bolt'].flatMap((company, c) =>
  kinds.flatMap((kind, k) => {
    const sourceId = `${c}${k}000000-0000-4000-8000-000000000000`;
    const live = { name: `${company}/${kind}/live`, kind, sandbox: false, sourceId };
    if (kind === 'webhook') return [live];
    return [live, { ...live, name: `${company}/${kind}/sandbox`, sandbox: true }];
  }),
);

/**
 * What a service leaves that does everything right: deliveries are judged by the rules for keys
 * and bodies (DECISIONS 5), one after the other, and each is answered.
 */
export function perfectRun(seed: number, draws = 150): LooseEvidence {
  const service = new PerfectService(seed);
  const senders = [0, 1, 2].map((sender) => new Draws(seed, sender, scopes));
  for (let n = 0; n < draws; n++) {
    for (const sending of senders[n % senders.length]!.next().sendings) service.take(sending);
  }
  return service.evidence();
}

class PerfectService {
  readonly #seed: number;
  readonly #attempts: LooseAttempt[] = [];
  readonly #deliveries: LooseDelivery[] = [];
  readonly #conflicts: Evidence['conflicts'][number][] = [];
  readonly #byKey = new Map<string, LooseDelivery>();
  readonly #byBody = new Map<string, LooseDelivery>();

  constructor(seed: number) {
    this.#seed = seed;
  }

  take(sending: Sending): void {
    const { scope, body, how } = sending;
    const made = bodyOf(this.#seed, body);
    const number = this.#attempts.length + 1;
    const attempt: LooseAttempt = {
      ...{ attempt: number, scope, body, how, sha256: sha256Of(made.bytes) },
      ...{ bytes: made.bytes.length, rows: made.expected.rows.length },
      ...{ beganAt: 2 * number, endedAt: 2 * number + 1, end: noAnswer(number) },
    };
    this.#attempts.push(attempt);
    if (how === 'cut') return;
    if (isGood(attempt)) attempt.end = this.#keep(attempt);
    else attempt.end = { ...attempt.end, outcome: 'refused', status: statusOf(attempt) };
  }

  #keep(attempt: LooseAttempt): Ended {
    const { scope, sha256, body } = attempt;
    const keyName = `${scope} ${body.key}`;
    const found = this.#byKey.get(keyName) ?? this.#byBody.get(bodyName(scope, sha256));
    const delivery = found ?? this.#newDelivery(attempt);
    const differs = delivery.sha256 !== sha256;
    if (!this.#byKey.has(keyName)) delivery.keys.push(body.key);
    this.#byKey.set(keyName, delivery);
    this.#byBody.set(bodyName(scope, delivery.sha256), delivery);
    const { sequence, artifactId: artifact_id, sandbox } = delivery;
    if (differs) this.#conflicts.push({ sequence, key: body.key, sha256 });
    const receipt = JSON.stringify({ artifact_id, shape_version: 1, status: 'queued', sandbox });
    const replayed = found !== undefined;
    return { ...attempt.end, outcome: 'ok', status: 202, receipt, replayed, differs };
  }

  #newDelivery({ scope, body, sha256, bytes }: LooseAttempt): LooseDelivery {
    const { sourceId, sandbox } = scopes.find((one) => one.name === scope)!;
    const { expected } = bodyOf(this.#seed, body);
    const { records, rejected, blank, status, rows } = expected;
    const within = supersededWithin(expected);
    const sequence = this.#deliveries.length + 1;
    const delivery: LooseDelivery = {
      ...{ sequence, artifactId: v7(), sourceId, sandbox, sha256, bytes, status, keys: [] },
      ...{ records, parsed: records - rejected, rejected, blank, supersededWithin: within },
      ...{ samples: rows.length - within, shapeVersion: 1 },
      place: { object: `object ${sequence}`, offset: 0, length: bytes },
    };
    this.#deliveries.push(delivery);
    return delivery;
  }

  evidence(): LooseEvidence {
    const log = { attempts: this.#attempts, reads: [] };
    const deliveries = this.#deliveries;
    const evidence: LooseEvidence = {
      ...{
        seed: this.#seed,
        faulted: true,
        scopes,
        log,
        deliveries,
        conflicts: this.#conflicts,
        orphans: [],
      },
      stored: new Map(deliveries.map((one) => [one.artifactId, one.sha256])),
      ...{ rows: new Map(), rejections: new Map(), samples: new Map() },
      ...{ foreign: [], accountingDifference: 0, drainedSeconds: 1, selfEnds: [] },
    };
    const of = known(evidence);
    for (const delivery of deliveries) {
      const expected = expectedOf(of, delivery)!;
      const rows = evidence.rows.get(delivery.sourceId) ?? [];
      evidence.rows.set(delivery.sourceId, [...rows, ...rowsOf(delivery, expected)]);
      evidence.rejections.set(delivery.artifactId, expected.rejections);
    }
    for (const { sourceId } of scopes) {
      const samples = shownOf(of, sourceId).map(shownSample);
      samples.sort((a, b) => (a.period_start < b.period_start ? 1 : -1));
      evidence.samples.set(sourceId, samples);
    }
    const [first, other] = deliveries;
    const name = of.scopeOf(first!);
    evidence.log.reads = [{ at: 'read', scope: name, status: 200, artifacts: [first!.artifactId] }];
    const strangers = scopes.filter((one) => one.sourceId !== other!.sourceId);
    evidence.foreign = strangers.map((scope) => ({
      ...{ artifactId: other!.artifactId, scope: scope.name, status: 404 },
    }));
    return evidence;
  }
}

function noAnswer(attempt: number): Ended {
  return {
    ...{ at: 'end', attempt, outcome: 'unknown', status: null, receipt: null },
    ...{ replayed: false, differs: false, retryAfter: false },
  };
}

/** Written out once more: what the checks compare with is a table of their own. */
function statusOf({ body }: Pick<LooseAttempt, 'body'>): number {
  if (body.refusal === 'access_key_unknown') return 401;
  if (body.refusal === 'signature_wrong') return 404;
  if (body.refusal === 'too_long') return 413;
  return body.refusal === 'media_type_wrong' ? 415 : 400;
}

function shownSample(text: string) {
  const [period_start, metric, labels, sandbox, value, artifact_id] = JSON.parse(text);
  return { metric, period_start, value, labels, sandbox, artifact_id };
}
