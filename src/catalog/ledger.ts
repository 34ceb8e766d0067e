import { limits } from '../domain/limits.ts';
import { assert } from '../std/assert.ts';
import { Gather } from '../std/gather.ts';
import {
  CatalogAway,
  type KnownDelivery,
  type Ledger,
  type Lookup,
  type Probe,
  type Verdict,
} from './catalog.ts';
import { errorOf } from './failures.ts';
import type { LedgerAnswer, LedgerEntry, LedgerWrites } from './writes.ts';

/**
 * Gathers claims and replays into groups, each one transaction of `writes`: under load each sync to
 * disk is shared by many. An entry that is refused fails alone.
 *
 * @param lookup answers what needs no writing: a key that is known with the same bytes
 */
export function openLedger(writes: LedgerWrites, lookup: Pick<Lookup, 'known'>) {
  const groups = new Gather<LedgerEntry, LedgerAnswer>((entries) => writes.commit(entries), {
    groupMax: limits.ledgerGroupMax,
    waitingMax: limits.ledgerWaitingMax,
    refuse: () => new CatalogAway('too many receipts wait for the catalog'),
  });
  const commit = async (entry: LedgerEntry) => {
    const answer = await groups.add(entry);
    if (answer.kind === 'failed') throw errorOf(answer.failure);
    return answer;
  };
  const ledger: Ledger = {
    async record(claim): Promise<Verdict> {
      check(claim);
      const plain = { ...claim, sha256: claim.sha256.toString('hex') };
      const answer = await commit({ kind: 'record', claim: plain });
      assert(answer.kind === 'record', 'a claim is answered with a verdict');
      return answer.verdict;
    },
    async replay(probe, now): Promise<KnownDelivery | null> {
      check(probe);
      // What a reader sees is durable already, and an equal repetition changes nothing.
      const known = await lookup.known(probe);
      if (!known || (known.by === 'key' && !known.bodyDiffers)) return known;
      const { sourceId, sandbox, idempotencyKey, sha256 } = probe;
      const plain = { sourceId, sandbox, idempotencyKey, sha256: sha256.toString('hex') };
      const answer = await commit({ kind: 'replay', probe: plain, now });
      assert(answer.kind === 'replay', 'a replay is answered with what is known');
      return answer.known;
    },
  };
  return { ledger, idle: () => groups.idle() };
}

/** Databases would take these keys for others, or not at all; the door has refused them. */
function check({ idempotencyKey, sha256 }: Probe): void {
  assert(idempotencyKey !== '', 'an idempotency key is not empty');
  assert(idempotencyKey.isWellFormed(), 'an idempotency key holds no lone surrogate');
  assert(!idempotencyKey.includes('\0'), 'an idempotency key holds no U+0000');
  assert(sha256.length === 32, 'a SHA-256 has 32 bytes');
}
