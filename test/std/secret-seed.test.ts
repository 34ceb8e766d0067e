import { expect, test } from 'vitest';
import { PairIds } from '../../src/std/pair-ids.ts';
import { TextIds } from '../../src/std/text-ids.ts';

const count = 20_000;

function msOf(work: () => void): number {
  const begun = performance.now();
  work();
  return performance.now() - begun;
}

/** Texts of eight bytes that one hash would be the same for, whoever knew where it starts. */
function collidingTexts(start: number): string[] {
  const isCell = (byte: number) => byte > 0x2c && byte < 0x7f;
  const texts: string[] = [];
  const bytes = Buffer.alloc(8);
  for (let i = 0; texts.length < count; i++) {
    const digit = (place: number) => 0x2d + (Math.trunc(i / 80 ** place) % 80);
    for (const place of [0, 1, 2, 3]) bytes[place] = digit(place);
    let hash = Math.imul(start ^ 8 ^ bytes.readInt32LE(), 0x9e3779b1);
    hash ^= hash >>> 15;
    bytes.writeInt32LE(hash ^ 0x12345678, 4);
    if (bytes.subarray(4).every(isCell)) texts.push(bytes.toString('latin1'));
  }
  return texts;
}

test('texts made to collide are numbered as fast as others', () => {
  const colliding = collidingTexts(0x811c9dc5);
  expect(new Set(colliding).size).toBe(count);
  const number = (texts: readonly string[]) => {
    const ids = new TextIds();
    for (const text of texts) ids.idOf(text);
    expect(ids.size).toBe(count);
  };
  const ordinary = msOf(() => number(colliding.map((_, i) => `x${1_000_000 + i}`)));
  expect(msOf(() => number(colliding))).toBeLessThan(20 * ordinary + 200);
});

test('pairs made to collide are numbered as fast as others', () => {
  const pairs: [number, number][] = [];
  for (let first = 0; pairs.length < 4 * count; first++) {
    for (let second = 0; second < 4_000; second++) {
      let hash = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
      hash = Math.imul(hash ^ (hash >>> 15), 0x2c1b3c6d);
      // Of the bits that choose the slot, the upper ones.
      if ((((hash ^ (hash >>> 13)) >>> 9) & 0x1ff) === 0) pairs.push([first, second]);
    }
  }
  const number = (some: readonly (readonly [number, number])[]) => {
    const ids = new PairIds();
    for (const [first, second] of some) ids.idOf(first, second);
    expect(ids.size).toBe(some.length);
  };
  const ordinary = msOf(() => number(pairs.map((_, i) => [i % 300, Math.trunc(i / 300)])));
  expect(msOf(() => number(pairs))).toBeLessThan(20 * ordinary + 200);
});
