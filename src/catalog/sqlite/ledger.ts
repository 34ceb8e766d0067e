import type { Database } from 'better-sqlite3';
import { CatalogRefusal, type KnownDelivery, type Verdict } from '../catalog.ts';
import { failureOf } from '../failures.ts';
import { knownByBody, knownByKey } from '../known.ts';
import type { Db } from '../schema.ts';
import type { LedgerAnswer, LedgerEntry, LedgerWrites, PlainClaim, PlainProbe } from '../writes.ts';
import { asCatalogError } from './errors.ts';
import { type Statements, statements } from './ledger-statements.ts';

/**
 * Judges claims by DECISIONS 5, a group in one transaction, with prepared statements only.
 *
 * Ordering: `begin immediate` makes this transaction the only one, so sequences (the row ids)
 * grow in the order of the commits. Nothing is answered before the commit has returned.
 * Failure: each entry stands in a savepoint; its error undoes it alone. An error that ends the
 * whole transaction (full disk) fails the whole group.
 */
export function sqliteLedger(connection: Database, at: Db): LedgerWrites {
  const run = statements(connection, at);
  const settle = (entry: LedgerEntry): LedgerAnswer =>
    entry.kind === 'record'
      ? { kind: 'record', verdict: record(at, run, entry.claim) }
      : { kind: 'replay', known: replay(at, run, entry.probe, entry.now) };

  const alone = (entry: LedgerEntry): LedgerAnswer => {
    run.savepoint();
    try {
      const answer = settle(entry);
      run.release();
      return answer;
    } catch (error) {
      if (!connection.inTransaction) throw error;
      run.undo();
      run.release();
      return { kind: 'failed', failure: failureOf(asCatalogError(error)) };
    }
  };

  return {
    async commit(entries) {
      run.begin();
      try {
        const answers = entries.map(alone);
        run.commit();
        return answers;
      } catch (error) {
        if (connection.inTransaction) run.rollback();
        throw error;
      }
    },
  };
}

function record(at: Db, run: Statements, claim: PlainClaim): Verdict {
  const known = replay(at, run, claim, claim.receivedAt);
  if (known) return { outcome: 'replayed', known };
  const sequence = store(at, run, claim);
  const { artifactId, shapeVersion, sandbox } = claim;
  return { outcome: 'stored', receipt: { artifactId, shapeVersion, sandbox }, sequence };
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

function store(at: Db, run: Statements, claim: PlainClaim): number {
  const { source, sandbox, sha256, key } = stored(at, claim);
  const shape = run.shape({ source, version: claim.shapeVersion });
  if (!shape) {
    if (!run.source({ source })) throw refusal('source_not_found', 'source');
    throw refusal('shape_version_not_found', 'shape version');
  }
  const sequence = run.insert({
    source: shape.source_id,
    sandbox,
    sha256,
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
  run.nameFirst({ source: shape.source_id, sandbox, key, sequence, now: claim.receivedAt });
  return sequence;
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
