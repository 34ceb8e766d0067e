import { randomBytes, randomUUID } from 'node:crypto';
import { v7 } from 'uuid';
import { expect, it } from 'vitest';
import type { Claim } from '../../../src/catalog/catalog.ts';
import { claimFor, seedSource, sha256, store } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

const receiptOf = (claim: Claim) => ({
  artifactId: claim.artifactId,
  shapeVersion: claim.shapeVersion,
  sandbox: claim.sandbox,
});

/** The same delivery, sent again: other bytes in the store, another artifact id. */
const again = (claim: Claim, over: Partial<Claim> = {}): Claim => ({
  ...claim,
  artifactId: v7(),
  place: { ...claim.place, object: randomUUID() },
  ...over,
});

export function ledgerContract(on: Subject): void {
  it('stores what is new and gives sequences that grow', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const first = claimFor(sourceId);
    const verdict = await on.catalog.ledger.record(first);
    expect(verdict).toMatchObject({ outcome: 'stored', receipt: receiptOf(first) });
    const sequences = [];
    for (let i = 0; i < 5; i++) sequences.push(await store(on.catalog, claimFor(sourceId)));
    expect(sequences).toEqual([...sequences].sort((a, b) => a - b));
    expect(new Set(sequences).size).toBe(5);
  });

  it('answers a known key with the first receipt, whatever the body is', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const first = claimFor(sourceId);
    await store(on.catalog, first);
    const other = again(first, { sha256: randomBytes(32), shapeVersion: 99 });
    expect(await on.catalog.ledger.record(other)).toEqual({
      outcome: 'replayed',
      known: { by: 'key', receipt: receiptOf(first), bodyDiffers: true },
    });
    expect(await on.catalog.deliveries.byArtifact(other.artifactId)).toBeNull();
    expect(await on.catalog.deliveries.conflicts(first.artifactId)).toBe(1);
    expect(await on.catalog.lookup.known({ ...other, idempotencyKey: 'free' })).toBeNull();
  });

  it('gives a known body another name, which stands for the first receipt', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const first = claimFor(sourceId, { idempotencyKey: 'one' });
    await store(on.catalog, first);
    const named = await on.catalog.ledger.record(again(first, { idempotencyKey: 'two' }));
    const known = { by: 'body', receipt: receiptOf(first), bodyDiffers: false };
    expect(named).toEqual({ outcome: 'replayed', known });
    const third = again(first, { idempotencyKey: 'two', sha256: randomBytes(32) });
    expect(await on.catalog.ledger.record(third)).toMatchObject({
      outcome: 'replayed',
      known: { by: 'key', receipt: receiptOf(first), bodyDiffers: true },
    });
    expect(await on.catalog.deliveries.idempotencyKeys(first.artifactId)).toEqual(['one', 'two']);
    expect(await on.catalog.deliveries.conflicts(first.artifactId)).toBe(1);
  });

  it('lets a used key decide before the body of another delivery', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const one = claimFor(sourceId);
    const two = claimFor(sourceId);
    await store(on.catalog, one);
    await store(on.catalog, two);
    const mixed = again(one, { sha256: two.sha256 });
    expect(await on.catalog.ledger.record(mixed)).toMatchObject({
      known: { by: 'key', receipt: receiptOf(one), bodyDiffers: true },
    });
    const names = await on.catalog.deliveries.idempotencyKeys(two.artifactId);
    expect(names).toEqual([two.idempotencyKey]);
  });

  it('judges claims of one group as if they had come one after another', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const first = claimFor(sourceId, { idempotencyKey: 'first' });
    const claims = [
      claimFor(sourceId), // Leaves alone; the others gather behind it.
      first,
      again(first),
      again(first, { idempotencyKey: 'second' }),
      again(first, { idempotencyKey: 'second', sha256: sha256('other') }),
    ];
    const verdicts = await Promise.all(claims.map((claim) => on.catalog.ledger.record(claim)));
    expect(verdicts.slice(1)).toMatchObject([
      { outcome: 'stored', receipt: receiptOf(first) },
      { outcome: 'replayed', known: { by: 'key', bodyDiffers: false } },
      { outcome: 'replayed', known: { by: 'body', receipt: receiptOf(first) } },
      { outcome: 'replayed', known: { by: 'key', receipt: receiptOf(first), bodyDiffers: true } },
    ]);
  });

  it('fails a claim alone, not the others of its group', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const taken = claimFor(sourceId);
    await store(on.catalog, taken);
    const claims = [
      claimFor(sourceId),
      claimFor(sourceId),
      claimFor(randomUUID()),
      claimFor(sourceId, { shapeVersion: 2 }),
      claimFor(sourceId, { artifactId: taken.artifactId }),
      claimFor(sourceId),
    ];
    const ended = await Promise.allSettled(claims.map((claim) => on.catalog.ledger.record(claim)));
    expect(ended.map((one) => one.status)).toEqual([
      'fulfilled',
      'fulfilled',
      'rejected',
      'rejected',
      'rejected',
      'fulfilled',
    ]);
    expect(ended[2]).toMatchObject({ reason: { code: 'source_not_found' } });
    expect(ended[3]).toMatchObject({ reason: { code: 'shape_version_not_found' } });
    // What failed claimed nothing: neither its key nor its body is known.
    expect(await on.catalog.lookup.known(claims[4]!)).toBeNull();
    expect(await on.catalog.lookup.known(claims[5]!)).not.toBeNull();
  });

  it('stores one of 200 identical racers over two handles, with 200 equal receipts', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const other = await on.another();
    const claim = claimFor(sourceId);
    const verdicts = await Promise.all(
      Array.from({ length: 200 }, (_, i) =>
        (i % 2 ? other : on.catalog).ledger.record(again(claim)),
      ),
    );
    const stored = verdicts.filter((verdict) => verdict.outcome === 'stored');
    expect(stored).toHaveLength(1);
    const receipts = verdicts.map((verdict) =>
      verdict.outcome === 'stored' ? verdict.receipt : verdict.known.receipt,
    );
    expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1);
    expect(await on.catalog.deliveries.list(sourceId, { limit: 10 })).toHaveLength(1);
    expect(await on.catalog.deliveries.conflicts(receipts[0]!.artifactId)).toBe(0);
  });

  it('replays what is known and only that', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claim = claimFor(sourceId, { idempotencyKey: 'one' });
    const { ledger, deliveries } = on.catalog;
    expect(await ledger.replay(claim, 1)).toBeNull();
    await store(on.catalog, claim);
    const receipt = receiptOf(claim);
    const same = { by: 'key', receipt, bodyDiffers: false };
    expect(await ledger.replay(claim, 2)).toEqual(same);
    const renamed = { ...claim, idempotencyKey: 'two' };
    expect(await ledger.replay(renamed, 3)).toEqual({ ...same, by: 'body' });
    expect(await ledger.replay(renamed, 4)).toEqual(same);
    const differs = { ...renamed, sha256: randomBytes(32) };
    expect(await ledger.replay(differs, 5)).toEqual({ ...same, bodyDiffers: true });
    expect(await ledger.replay(differs, 6)).toEqual({ ...same, bodyDiffers: true });
    expect(await deliveries.idempotencyKeys(claim.artifactId)).toEqual(['one', 'two']);
    expect(await deliveries.conflicts(claim.artifactId)).toBe(2);
  });

  it('compares keys by their code points: nothing is folded, trimmed or normalised', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const keys = ['\u00e9', 'e\u0301', 'E\u0301', 'e', 'e ', ' e', 'E', '\ufb01', 'fi', '\u212b'];
    keys.push('\u00c5', 'A\u030a', '1', '1.0', '01', 'x\u0001', 'x', '\u{1f41f}', '\uffff');
    keys.push('\u{1f41f}'.repeat(200), 'x\u200b');
    // 36 bytes each, the length of a uuid; equal once normalised, and different keys all the same.
    const composed = '\u00e9'.repeat(18);
    const decomposed = 'e\u0301'.repeat(12);
    expect([composed, decomposed].map((key) => Buffer.byteLength(key))).toEqual([36, 36]);
    keys.push(composed, decomposed, composed.normalize('NFD'), decomposed.normalize('NFC'));
    const claims = keys.map((idempotencyKey) => claimFor(sourceId, { idempotencyKey }));
    for (const claim of claims) await store(on.catalog, claim);
    for (const claim of claims) {
      const known = await on.catalog.lookup.known({ ...claim, sha256: randomBytes(32) });
      expect(known).toMatchObject({ by: 'key', receipt: { artifactId: claim.artifactId } });
      const names = await on.catalog.deliveries.idempotencyKeys(claim.artifactId);
      expect(names).toEqual([claim.idempotencyKey]);
    }
  });

  it('keeps all that it acknowledged over a reopening', async () => {
    const { sourceId } = await seedSource(on.catalog);
    const claims = Array.from({ length: 50 }, () => claimFor(sourceId));
    await Promise.all(claims.map((claim) => on.catalog.ledger.record(claim)));
    const catalog = await on.reopen();
    for (const claim of claims) {
      expect(await catalog.lookup.known(claim)).toMatchObject({ receipt: receiptOf(claim) });
    }
    const last = await store(catalog, claimFor(sourceId));
    const [newest] = await catalog.deliveries.list(sourceId, { limit: 1 });
    expect(newest!.sequence).toBe(last);
  });

  it('refuses keys that a database would take for others', async () => {
    const { sourceId } = await seedSource(on.catalog);
    for (const idempotencyKey of ['', 'a\0b', '\ud800']) {
      const claim = claimFor(sourceId, { idempotencyKey });
      await expect(on.catalog.ledger.record(claim)).rejects.toThrow('assertion failed');
    }
  });
}
