import fc from 'fast-check';
import { expect, test } from 'vitest';
import { AnswerCache, type EncodedAnswer } from '../../src/serve/answer-cache.ts';

/** Answers kept for those who read the same again. */

const answerOf = (text: string): EncodedAnswer => ({ body: Buffer.from(text), etag: text });

test('an answer is made once for a version, and again for a later one', async () => {
  const cache = new AnswerCache(100_000);
  const made: string[] = [];
  const ask = async (version: number | null) => {
    const make = async () => {
      made.push(`made ${made.length}`);
      return answerOf(made.at(-1)!);
    };
    return (await cache.answer('a', version, make)).etag;
  };
  const asked = [await ask(1), await ask(1), await ask(2), await ask(2)];
  expect(asked).toEqual(['made 0', 'made 0', 'made 1', 'made 1']);
  // A request that looked up its version before the others did.
  expect(await ask(1)).toBe('made 2');
  expect(await ask(2)).toBe('made 1');
  // Nobody knows the version.
  const unsure = [await ask(null), await ask(null), await ask(2)];
  expect(unsure).toEqual(['made 3', 'made 4', 'made 1']);
});

test('who asks while it is made shares it; a failure is shared and forgotten', async () => {
  const cache = new AnswerCache(100_000);
  let asked = 0;
  let settle!: { resolve(answer: EncodedAnswer): void; reject(error: Error): void };
  const make = () => {
    asked += 1;
    return new Promise<EncodedAnswer>((resolve, reject) => {
      settle = { resolve, reject };
    });
  };
  const failing = [cache.answer('a', 1, make), cache.answer('a', 1, make)];
  settle.reject(new Error('away'));
  for (const one of failing) await expect(one).rejects.toThrow('away');
  const both = [cache.answer('a', 1, make), cache.answer('a', 1, make)];
  settle.resolve(answerOf('here'));
  for (const one of both) expect((await one).etag).toBe('here');
  expect(asked).toBe(2);
});

test('neither another version nor another name shares what is under way', async () => {
  const cache = new AnswerCache(100_000);
  const waiting: ((answer: EncodedAnswer) => void)[] = [];
  const make = () => new Promise<EncodedAnswer>((resolve) => waiting.push(resolve));
  const asked = [
    cache.answer('a', 1, make),
    cache.answer('a', 2, make),
    cache.answer('b', 1, make),
    cache.answer('a', null, make),
    cache.answer('a', null, make),
  ];
  expect(waiting).toHaveLength(asked.length);
  // The newer one comes first: the older one must not take its place.
  for (const n of [1, 0, 2, 3, 4]) waiting[n]!(answerOf(`answer ${n}`));
  const etags = (await Promise.all(asked)).map((one) => one.etag);
  expect(etags).toEqual(asked.map((_, n) => `answer ${n}`));
  expect((await cache.answer('a', 2, make)).etag).toBe('answer 1');
});

test('its bytes stay within the bound; those used longest ago give way', async () => {
  const bytesMax = 50_000;
  const step = fc.record({
    name: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'),
    version: fc.nat(3),
    bytes: fc.integer({ min: 0, max: 20_000 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const cache = new AnswerCache(bytesMax);
      let used: string[] = [];
      for (const { name, version, bytes } of steps) {
        const body = Buffer.alloc(100_000).subarray(0, bytes);
        const kept = await cache.answer(name, version, async () => ({ body, etag: `${version}` }));
        expect(kept.etag).toBe(`${version}`);
        expect(cache.bytes).toBeLessThanOrEqual(bytesMax);
        used = [...used.filter((one) => one !== name), name];
        // Two answers of any size here fit: the last two are there, unless replaced by a later one.
        expect(cache.bytes).toBeGreaterThanOrEqual(Math.min(used.length, 2) * 1_024);
      }
    }),
  );
});

test('an answer larger than the bound is given and not kept', async () => {
  const cache = new AnswerCache(2_000);
  const small = async () => answerOf('small');
  await cache.answer('small', 1, small);
  const before = cache.bytes;
  const large = async () => ({ body: Buffer.alloc(3_000), etag: 'large' });
  expect((await cache.answer('large', 1, large)).etag).toBe('large');
  expect(cache.bytes).toBe(before);
  const again = async () => answerOf('made again');
  expect((await cache.answer('small', 1, again)).etag).toBe('small');
});
