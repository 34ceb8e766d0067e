import type { Database } from 'better-sqlite3';
import { assert } from '../../std/assert.ts';
import { CatalogRefusal, type KnownDelivery, type Verdict } from '../catalog.ts';
import { failureOf } from '../failures.ts';
import { knownByBody, knownByKey } from '../known.ts';
import type { Db } from '../schema.ts';
import type { LedgerAnswer, LedgerEntry, LedgerWrites, PlainClaim, PlainProbe } from '../writes.ts';
import { asCatalogError } from './errors.ts';
import { type Statements, statements } from './ledger-statements.ts';

/** Shape versions that were found; they are never edited, and never go. */
const shapesMax = 10_000;

/**
 * Judges claims by DECISIONS 5, a group in one transaction, with prepared statements only. What is
 * new is written at once: that a key or bytes are known is what its unique index says.
 *
 * Ordering: `begin immediate` makes this transaction the only one, so sequences (the row ids)
 * grow in the order of the commits. Nothing is answered before the commit has returned.
 * Failure: an entry that is refused has written nothing. Any other error undoes the group, which
 * is then run again with each entry in a savepoint, so that an error undoes its own entry alone.
 * One that ends the whole transaction (full disk) fails the whole group.
 */
export function sqliteLedger(connection: Database, at: Db): LedgerWrites {
  const run = statements(connection, at);
  const shapes = new Map<string, number>();
  const settle = (entry: LedgerEntry, numbers: Numbers): LedgerAnswer => {
    if (entry.kind === 'replay') {
      return { kind: 'replay', known: replay(at, run, entry.probe, entry.now) };
    }
    try {
      return { kind: 'record', verdict: record({ at, run, shapes, numbers }, entry.claim) };
    } catch (error) {
      if (!(error instanceof CatalogRefusal)) throw error;
      return { kind: 'failed', failure: failureOf(error) };
    }
  };

  const alone = (entry: LedgerEntry, numbers: Numbers): LedgerAnswer => {
    run.savepoint();
    const { next } = numbers;
    try {
      const answer = settle(entry, numbers);
      run.release();
      return answer;
    } catch (error) {
      if (!connection.inTransaction) throw error;
      run.undo();
      run.release();
      numbers.next = next;
      return { kind: 'failed', failure: failureOf(asCatalogError(error)) };
    }
  };

  const transaction = (entries: readonly LedgerEntry[], one: typeof settle): LedgerAnswer[] => {
    run.begin();
    try {
      const numbers = { next: run.next() };
      const answers = entries.map((entry) => one(entry, numbers));
      run.commit();
      return answers;
    } catch (error) {
      if (connection.inTransaction) run.rollback();
      throw error;
    }
  };

  return {
    async commit(entries) {
      let isOfAnEntry = false;
      try {
        return transaction(entries, (entry, numbers) => {
          isOfAnEntry = true;
          const answer = settle(entry, numbers);
          isOfAnEntry = false;
          return answer;
        });
      } catch (error) {
        if (!isOfAnEntry) throw error;
        return transaction(entries, alone);
      }
    },
  };
}

/** The sequence that the next delivery of a transaction gets. */
interface Numbers {
  next: number;
}

interface Recording {
  readonly at: Db;
  readonly run: Statements;
  /** The source's id in the database, by source and version. */
  readonly shapes: Map<string, number>;
  readonly numbers: Numbers;
}

/** @throws CatalogRefusal before anything is written */
function record(recording: Recording, claim: PlainClaim): Verdict {
  const { at, run, numbers } = recording;
  const source = shapeSource(recording, claim);
  if (source !== null && store(recording, claim, source)) {
    const sequence = numbers.next;
    numbers.next += 1;
    const { artifactId, shapeVersion, sandbox } = claim;
    return { outcome: 'stored', receipt: { artifactId, shapeVersion, sandbox }, sequence };
  }
  // A known key or body has its receipt, whatever version this claim names.
  const known = replay(at, run, claim, claim.receivedAt);
  if (known) return { outcome: 'replayed', known };
  assert(source === null, 'what is not new is known');
  if (!run.source({ source: at.dialect.uuid.toDb(claim.sourceId) })) {
    throw refusal('source_not_found', 'source');
  }
  throw refusal('shape_version_not_found', 'shape version');
}

/** @returns the source's id; null when there is no such shape version */
function shapeSource({ at, run, shapes }: Recording, claim: PlainClaim): number | null {
  const { sourceId, shapeVersion: version } = claim;
  const name = `${sourceId}/${version}`;
  const kept = shapes.get(name);
  if (kept !== undefined) return kept;
  const found = run.shape({ source: at.dialect.uuid.toDb(sourceId), version });
  if (!found) return null;
  if (shapes.size >= shapesMax) shapes.clear();
  shapes.set(name, found.source_id);
  return found.source_id;
}

/** Known key: its receipt, a difference counted. Known body: the key becomes another name. */
function replay(at: Db, run: Statements, probe: PlainProbe, now: number): KnownDelivery | null {
  const { source, sandbox, sha256, key } = stored(at, probe);
  const named = run.byKey({ source, sandbox, key });
  if (named) {
    const known = knownByKey(at, named, { sha256 });
    if (known.bodyDiffers) run.conflict({ sequence: named.sequence, key, sha256, now });
    return known;
  }
  const same = run.byBody({ source, sandbox, sha256 });
  if (!same) return null;
  run.nameFurther({ source: same.source_id, sandbox, key, sequence: same.sequence, now });
  return knownByBody(at, same);
}

/** @returns whether it was new; if not, nothing is written */
function store({ at, run, numbers }: Recording, claim: PlainClaim, source: number): boolean {
  const { sandbox, sha256, key } = stored(at, claim);
  const { next } = numbers;
  const isNew = run.insert({
    ...{ next, source, sandbox, sha256 },
    artifact: at.dialect.uuid.toDb(claim.artifactId),
    version: claim.shapeVersion,
    bytes: claim.bytes,
    delivery: claim.delivery,
    mediaType: claim.mediaType,
    encoding: claim.encoding,
    receivedAt: claim.receivedAt,
    ...claim.place,
    secret: claim.secretId === null ? null : at.dialect.uuid.toDb(claim.secretId),
  });
  if (!isNew) return false;
  if (run.nameFirst({ source, sandbox, key, sequence: next, now: claim.receivedAt })) return true;
  run.takeBack({ sequence: next });
  return false;
}

function refusal(code: string, what: string): CatalogRefusal {
  return new CatalogRefusal(code, `There is no such ${what}.`);
}

function stored({ dialect }: Db, probe: PlainProbe) {
  return {
    source: dialect.uuid.toDb(probe.sourceId),
    sandbox: dialect.bool.toDb(probe.sandbox),
    sha256: Buffer.from(probe.sha256, 'hex'),
    key: probe.idempotencyKey,
  };
}
