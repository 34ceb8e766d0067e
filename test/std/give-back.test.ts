import { expect, test } from 'vitest';
import { giveBack } from '../../src/std/give-back.ts';

test('large bytes are gone at once', () => {
  const before = process.memoryUsage().arrayBuffers;
  const bytes = Buffer.alloc(64 * 1024 * 1024);
  giveBack(bytes.subarray(10, 20));
  expect(bytes).toHaveLength(0);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 * 1024 * 1024);
});

test('what may lie in a pool beside others stays', () => {
  const [one, other] = [Buffer.from('one'), Buffer.from('other')];
  expect(one.buffer).toBe(other.buffer);
  giveBack(one);
  expect([one.toString(), other.toString()]).toEqual(['one', 'other']);
});
