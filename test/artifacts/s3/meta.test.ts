import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArtifactMissing } from '../../../src/artifacts/artifacts.ts';
import { decodeMeta, encodeMeta } from '../../../src/artifacts/s3/meta.ts';
import { oddMeta } from '../odd-meta.ts';
import { someMeta } from '../some-meta.ts';

const object = '2026/11/20/00000000-0000-7000-8000-000000000000';

/** As the client gives them back. */
function stripped(headers: Record<string, string>): Record<string, string> {
  const fields = Object.entries(headers).map(([name, value]) => [name.slice(11), value]);
  return Object.fromEntries(fields);
}

describe('metadata as headers', () => {
  test('come back as they were, whatever the key, within 2 KiB of ASCII', () => {
    fc.assert(
      fc.property(oddMeta, (meta) => {
        const headers = encodeMeta(meta);
        const all = Object.entries(headers).flat().join('');
        expect(all).toMatch(/^[!-~]*$/);
        expect(all.length).toBeLessThanOrEqual(2_048);
        expect(decodeMeta(object, stripped(headers))).toEqual(meta);
      }),
    );
  });

  test('keep a short key legible', () => {
    const headers = encodeMeta(someMeta({ idempotencyKey: 'march 2026/ü' }));
    expect(headers['x-amz-meta-idempotency-key']).toBe('march%202026%2F%C3%BC');
  });

  test('carry a key of 200 characters of four bytes', () => {
    const meta = someMeta({ idempotencyKey: '🧾'.repeat(200), mediaType: '"'.repeat(200) });
    expect(decodeMeta(object, stripped(encodeMeta(meta)))).toEqual(meta);
  });

  test.each(['artifact-id', 'sandbox', 'idempotency-key', 'received-at'])(
    'without %s are a broken promise',
    (name) => {
      const fields = stripped(encodeMeta(someMeta()));
      delete fields[name];
      expect(() => decodeMeta(object, fields)).toThrow(ArtifactMissing);
    },
  );
});
