import { expect, test } from 'vitest';
import { deliveryHead, type KeepParts, recordKept } from '../../src/accept/keep.ts';
import type { Kept } from '../../src/accept/segments.ts';
import { CatalogAway, CatalogFull, type Claim, type KeyHolder } from '../../src/catalog/catalog.ts';

test("an object's metadata hold nothing of the request but what they are said to hold", () => {
  const holder = {
    key: { keyId: 'k', sandbox: true },
    source: { sourceId: 's', delivery: 'document' },
    company: { name: 'C' },
  } as KeyHolder;
  const about = { idempotencyKey: 'i', shapeVersion: 1, mediaType: 'm', encoding: 'gzip' } as const;
  const request = { ...about, holder, body: 'the body', now: 7 };
  expect(deliveryHead(holder, request, 7)).toEqual({
    ...{ sourceId: 's', sandbox: true, delivery: 'document', receivedAt: 7 },
    ...about,
  });
});

test.each([
  ['goes when the catalog is full, for nothing can refer to it', new CatalogFull('full'), 1],
  ['stays when nobody knows whether the catalog has it', new CatalogAway('gone'), 0],
])('an object %s', async (_, error, times) => {
  let abandoned = 0;
  const place = { object: 'an object', offset: 0, length: 1 };
  const kept: Kept = { place, abandon: async () => void abandoned++ };
  const record = () => Promise.reject(error);
  const parts = { catalog: { ledger: { record } } } as unknown as KeepParts;
  await expect(recordKept(parts, { place } as Claim, kept)).rejects.toBe(error);
  expect(abandoned).toBe(times);
});
