import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { pausableTimeout } from '../../src/parse/pausable-timeout.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test('a timeout aborts when its time is over', () => {
  const { signal } = pausableTimeout(100);
  vi.advanceTimersByTime(99);
  expect(signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(signal.aborted).toBe(true);
});

test('pauses do not count', () => {
  const timeout = pausableTimeout(100);
  vi.advanceTimersByTime(60);
  timeout.pause();
  vi.advanceTimersByTime(10_000);
  timeout.pause();
  timeout.resume();
  timeout.resume();
  vi.advanceTimersByTime(39);
  expect(timeout.signal.aborted).toBe(false);
  vi.advanceTimersByTime(1);
  expect(timeout.signal.aborted).toBe(true);
});

test('once ended, it never aborts', () => {
  const timeout = pausableTimeout(100);
  timeout.end();
  timeout.resume();
  vi.advanceTimersByTime(10_000);
  expect(timeout.signal.aborted).toBe(false);
});
