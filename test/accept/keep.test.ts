import { expect, test } from 'vitest';
import { deliveryHead } from '../../src/accept/keep.ts';
import type { KeyHolder } from '../../src/catalog/catalog.ts';

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
