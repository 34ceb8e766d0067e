import { expect, test, vi } from 'vitest';
import { Body } from '../../src/accept/body.ts';
import type { Exchange } from '../../src/http/exchange.ts';
import { newArtifactId } from '../../src/start/api.ts';
import { monotonicClock } from '../../src/std/clock.ts';
import { minuteMs } from './clock.ts';

test('ids of deliveries do not repeat when the clock stands still or is set back', () => {
  const now = Date.parse('2026-11-20T12:00:00Z');
  const ids = new Set<string>();
  for (let n = 0; n < 100_000; n++) ids.add(newArtifactId(n % 2 === 0 ? now : now - minuteMs));
  expect(ids.size).toBe(100_000);
});

test('the clock of the process goes on when the system clock is set', () => {
  const before = monotonicClock();
  const set = vi.spyOn(Date, 'now').mockReturnValue(0);
  const after = monotonicClock();
  set.mockRestore();
  expect(after).toBeGreaterThanOrEqual(before);
  expect(after - before).toBeLessThan(1_000);
  expect(Number.isInteger(after)).toBe(true);
});

test('a sender is not silent because the system clock was set forward', () => {
  vi.useFakeTimers();
  try {
    let cuts = 0;
    const res = { onData: () => {}, pause: () => {}, resume: () => {} };
    const cut = () => {
      cuts += 1;
    };
    const body = new Body({ open: true, onGone: () => {}, cut, res } as unknown as Exchange);
    vi.advanceTimersByTime(5_000);
    vi.setSystemTime(Date.now() + 15 * minuteMs);
    vi.advanceTimersByTime(5_000);
    expect(cuts).toBe(0);
    vi.setSystemTime(Date.now() - 30 * minuteMs);
    vi.advanceTimersByTime(12_000);
    expect(cuts).toBe(1);
    body.abandon();
  } finally {
    vi.useRealTimers();
  }
});
