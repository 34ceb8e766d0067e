import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { CatalogAway, CatalogRefusal, type Claim } from '../../src/catalog/catalog.ts';
import { failureOf } from '../../src/catalog/failures.ts';
import { openLedger } from '../../src/catalog/ledger.ts';
import type { LedgerAnswer, LedgerEntry } from '../../src/catalog/writes.ts';
import { limits } from '../../src/domain/limits.ts';

const claim = (idempotencyKey: string): Claim => ({
  ...{ artifactId: idempotencyKey, sourceId: 's', sandbox: false, idempotencyKey },
  ...{ sha256: Buffer.alloc(32), shapeVersion: 1, delivery: 'push', encoding: 'identity' },
  ...{ mediaType: 'application/json', bytes: 1, receivedAt: 0, secretId: null },
  place: { object: 'o', offset: 0, length: 1 },
});

const stored = (entry: LedgerEntry, sequence: number): LedgerAnswer => {
  if (entry.kind !== 'record') throw new Error('a claim is expected');
  const { artifactId, shapeVersion, sandbox } = entry.claim;
  const receipt = { artifactId, shapeVersion, sandbox };
  return { kind: 'record', verdict: { outcome: 'stored', receipt, sequence } };
};

function ledgerOf(commit: (entries: readonly LedgerEntry[]) => Promise<LedgerAnswer[]>) {
  return openLedger({ commit }, { known: async () => null }).ledger;
}

test('claims that come together are one transaction; one that is refused fails alone', async () => {
  const groups: number[] = [];
  const ledger = ledgerOf(async (entries) => {
    groups.push(entries.length);
    const refused = failureOf(new CatalogRefusal('source_not_found', 'There is no such source.'));
    return entries.map((entry, i) =>
      i === 1 ? { kind: 'failed', failure: refused } : stored(entry, i),
    );
  });
  const answers = await Promise.allSettled(['a', 'b', 'c'].map((key) => ledger.record(claim(key))));
  expect(groups).toEqual([3]);
  expect(answers).toMatchObject([
    { value: { outcome: 'stored', sequence: 0 } },
    { reason: { code: 'source_not_found' } },
    { value: { outcome: 'stored', sequence: 2 } },
  ]);
});

test('a transaction that fails takes its own group along', async () => {
  let tries = 0;
  const ledger = ledgerOf(async (entries) => {
    tries += 1;
    if (tries === 1) throw new CatalogAway('gone');
    return entries.map(stored);
  });
  await expect(ledger.record(claim('a'))).rejects.toBeInstanceOf(CatalogAway);
  expect(await ledger.record(claim('a'))).toMatchObject({ outcome: 'stored' });
});

test('more than may wait are refused with CatalogAway', async () => {
  const open = Promise.withResolvers<void>();
  const ledger = ledgerOf(async (entries) => {
    await open.promise;
    return entries.map(stored);
  });
  const first = ledger.record(claim('first'));
  await turn();
  const waiting = Array.from({ length: limits.ledgerWaitingMax }, () => ledger.record(claim('k')));
  await expect(ledger.record(claim('k'))).rejects.toBeInstanceOf(CatalogAway);
  open.resolve();
  await first;
  expect(await Promise.all(waiting)).toHaveLength(limits.ledgerWaitingMax);
});
