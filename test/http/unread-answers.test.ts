import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { type UnreadAnswer, unreadBytes, watchReader } from '../../src/http/unread-answers.ts';

/** What answers hold whose readers do not take them. */

const mebibyte = 1024 * 1024;
let ends: (() => void)[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
});
afterEach(() => {
  for (const end of ends) end();
  ends = [];
  expect(unreadBytes()).toBe(0);
  vi.useRealTimers();
});

interface Watched extends UnreadAnswer {
  bytesTaken: number;
  cuts: number;
}

function watched(body: Uint8Array): Watched {
  const answer: Watched = {
    ...{ body, bytesTaken: 0, cuts: 0 },
    cut() {
      answer.cuts += 1;
    },
  };
  ends.push(watchReader(answer));
  return answer;
}

test('a reader who takes too little in ten seconds is cut, one who takes enough is not', () => {
  const slow = watched(new Uint8Array(mebibyte));
  const steady = watched(new Uint8Array(mebibyte));
  for (let second = 1; second <= 40; second++) {
    slow.bytesTaken = second * (limits.readersBytesASecondMin - 1_000);
    steady.bytesTaken = second * (limits.readersBytesASecondMin + 1_000);
    vi.advanceTimersByTime(1_000);
    if (second === 9) expect(slow.cuts).toBe(0);
  }
  expect([slow.cuts, steady.cuts]).toEqual([1, 0]);
});

test('where all together hold too much the oldest gives way', () => {
  const size = limits.unreadBytesMax / 4;
  const answers = Array.from({ length: 6 }, () => watched(new Uint8Array(size)));
  expect(answers.map(({ cuts }) => cuts)).toEqual([1, 1, 0, 0, 0, 0]);
  expect(unreadBytes()).toBe(limits.unreadBytesMax);
});

test('one answer that a thousand readers wait for is held once', () => {
  const body = new Uint8Array(mebibyte);
  const answers = Array.from({ length: 1_000 }, () => watched(body));
  expect(unreadBytes()).toBe(mebibyte);
  expect(answers.filter(({ cuts }) => cuts > 0)).toEqual([]);
});

test('an answer that alone holds too much still goes out', () => {
  expect(watched(new Uint8Array(limits.unreadBytesMax + 1)).cuts).toBe(0);
});

test('small answers that share a buffer are held as that buffer, and then not at all', () => {
  const shared = new ArrayBuffer(8 * 1024);
  watched(new Uint8Array(shared, 0, 4_000));
  watched(new Uint8Array(shared, 4_000, 100));
  expect.soft(unreadBytes()).toBe(shared.byteLength);
  for (const end of ends.splice(0)) end();
  expect(unreadBytes()).toBe(0);
});
