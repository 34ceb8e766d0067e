import { assert } from '../../std/assert.ts';
import { CatalogRefusal, type KnownDelivery, type Verdict } from '../catalog.ts';
import { failureOf } from '../failures.ts';
import type { LedgerAnswer, LedgerEntry, PlainClaim, PlainProbe } from '../writes.ts';

/** A delivery that is known: to the catalog, or since an earlier entry of the group. */
export interface Known {
  readonly sequence: number;
  /** The source's id in the database. */
  readonly source: number;
  readonly artifactId: string;
  /** Of its receipt. */
  readonly shapeVersion: number;
  readonly sandbox: boolean;
  /** Hex. */
  readonly sha256: string;
  /** The highest ordinal of its names. */
  readonly ordinal: number;
}

/** What the catalog says of a group before it is judged. */
export interface Standing {
  /** The sequence that the next delivery gets. */
  readonly next: number;
  /** By entry: whom its key and its bytes lead to. */
  readonly byKey: ReadonlyMap<number, Known>;
  readonly byBody: ReadonlyMap<number, Known>;
  /** The id of a claim's source; a refusal where it or the shape version is unknown. */
  source(claim: PlainClaim): number | CatalogRefusal;
}

/** What is to be written so that the answers hold. */
export interface Judged {
  readonly answers: LedgerAnswer[];
  readonly deliveries: readonly { sequence: number; source: number; claim: PlainClaim }[];
  readonly names: readonly Name[];
  readonly conflicts: readonly { sequence: number; key: string; sha256: string; at: number }[];
}

interface Name {
  readonly source: number;
  readonly sandbox: boolean;
  readonly key: string;
  readonly sequence: number;
  readonly ordinal: number;
  readonly at: number;
}

/**
 * Judges a group by DECISIONS 5 as if its entries came one after another: what an earlier one
 * claims is known to the later ones. Decides only; nothing is read or written here.
 */
export function judge(entries: readonly LedgerEntry[], standing: Standing): Judged {
  const group = new Group(entries, standing);
  const answers = entries.map((entry): LedgerAnswer => {
    if (entry.kind === 'replay') {
      return { kind: 'replay', known: group.replay(entry.probe, entry.now) };
    }
    const verdict = group.record(entry.claim);
    return verdict instanceof CatalogRefusal
      ? { kind: 'failed', failure: failureOf(verdict) }
      : { kind: 'record', verdict };
  });
  return { answers, ...group.toWrite };
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

class Group {
  readonly #standing: Standing;
  readonly #byKey = new Map<string, Mutable<Known>>();
  readonly #byBody = new Map<string, Mutable<Known>>();
  #next: number;
  readonly toWrite = {
    deliveries: [] as Judged['deliveries'][number][],
    names: [] as Name[],
    conflicts: [] as Judged['conflicts'][number][],
  };

  constructor(entries: readonly LedgerEntry[], standing: Standing) {
    this.#standing = standing;
    this.#next = standing.next;
    // One object for each delivery, however many entries lead to it: its names are counted in it.
    const one = new Map<number, Mutable<Known>>();
    const shared = (known: Known) => {
      const kept = one.get(known.sequence) ?? { ...known };
      one.set(known.sequence, kept);
      return kept;
    };
    for (const [i, entry] of entries.entries()) {
      const probe = entry.kind === 'record' ? entry.claim : entry.probe;
      const named = standing.byKey.get(i);
      if (named) this.#byKey.set(keyName(probe), shared(named));
      const same = standing.byBody.get(i);
      if (same) this.#byBody.set(bodyName(probe), shared(same));
    }
  }

  record(claim: PlainClaim): Verdict | CatalogRefusal {
    // A known key or body has its receipt, whatever version this claim names.
    const known = this.replay(claim, claim.receivedAt);
    if (known) return { outcome: 'replayed', known };
    const source = this.#standing.source(claim);
    if (source instanceof CatalogRefusal) return source;
    const { artifactId, shapeVersion, sandbox, sha256, idempotencyKey: key } = claim;
    const sequence = this.#next;
    this.#next += 1;
    this.toWrite.deliveries.push({ sequence, source, claim });
    const name = { source, sandbox, key, sequence, ordinal: 0, at: claim.receivedAt };
    this.toWrite.names.push(name);
    const receipt = { artifactId, shapeVersion, sandbox };
    const stored = { ...receipt, sequence, source, sha256, ordinal: 0 };
    this.#byKey.set(keyName(claim), stored);
    this.#byBody.set(bodyName(claim), stored);
    return { outcome: 'stored', receipt, sequence };
  }

  /** Known key: its receipt, a difference counted. Known body: the key becomes another name. */
  replay(probe: PlainProbe, at: number): KnownDelivery | null {
    const { idempotencyKey: key, sha256 } = probe;
    const named = this.#byKey.get(keyName(probe));
    if (named) {
      const bodyDiffers = named.sha256 !== sha256;
      const { sequence } = named;
      if (bodyDiffers) this.toWrite.conflicts.push({ sequence, key, sha256, at });
      return { by: 'key', receipt: receiptOf(named), bodyDiffers };
    }
    const same = this.#byBody.get(bodyName(probe));
    if (!same) return null;
    assert(same.sandbox === probe.sandbox, 'sandbox and production share no bytes');
    same.ordinal += 1;
    const { source, sandbox, sequence, ordinal } = same;
    this.toWrite.names.push({ source, sandbox, key, sequence, ordinal, at });
    this.#byKey.set(keyName(probe), same);
    return { by: 'body', receipt: receiptOf(same), bodyDiffers: false };
  }
}

function receiptOf({ artifactId, shapeVersion, sandbox }: Known) {
  return { artifactId, shapeVersion, sandbox };
}

function keyName({ sourceId, sandbox, idempotencyKey }: PlainProbe): string {
  return `${sourceId}/${sandbox}/${idempotencyKey}`;
}

function bodyName({ sourceId, sandbox, sha256 }: PlainProbe): string {
  return `${sourceId}/${sandbox}/${sha256}`;
}
