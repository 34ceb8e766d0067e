import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { ProgressLine } from '../../src/start/progress-line.ts';

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
});
afterEach(() => {
  vi.useRealTimers();
});

function terminal(isTTY: boolean, columns = 80) {
  const written: string[] = [];
  return { isTTY, columns, written, write: (text: string) => written.push(text) };
}

const clear = '\r\x1b[2K';
const waiting = { kind: 'waiting', attempt: 1, waitMs: 3_000, why: '503 internal' } as const;

describe('on a terminal', () => {
  test('one line shows file, bytes and attempt', () => {
    const out = terminal(true);
    const line = new ProgressLine(out, '/somewhere/data.csv');
    line.show({ kind: 'sending', attempt: 2, sent: 4_194_304, bytes: 8_388_608 });
    expect(out.written).toEqual([
      `${clear}data.csv  ${'█'.repeat(10)}${'░'.repeat(10)} 4.0 of 8.0 MiB, attempt 2`,
    ]);
  });

  test('the wait is counted down until the next attempt begins', () => {
    const out = terminal(true);
    const line = new ProgressLine(out, 'data.csv');
    line.show(waiting);
    vi.advanceTimersByTime(2_000);
    expect(out.written).toEqual(
      [3, 2, 1].map((left) => `${clear}data.csv  503 internal; attempt 2 in ${left} s`),
    );
    line.show({ kind: 'sending', attempt: 2, sent: 0, bytes: 10 });
    vi.advanceTimersByTime(10_000);
    expect(out.written).toHaveLength(4);
  });

  test('it is not drawn for every part, but always for the last', () => {
    const out = terminal(true);
    const line = new ProgressLine(out, 'data.csv');
    for (let sent = 0; sent <= 1_000; sent++) {
      line.show({ kind: 'sending', attempt: 1, sent, bytes: 1_000 });
    }
    expect(out.written).toHaveLength(2);
    expect(out.written.at(-1)).toContain('█'.repeat(20));
  });

  test('it never wraps, and is taken away at the end', () => {
    const out = terminal(true, 20);
    const line = new ProgressLine(out, 'a-file-with-a-long-name.csv');
    line.show(waiting);
    line.end();
    vi.advanceTimersByTime(10_000);
    expect(out.written).toEqual([`${clear}a-file-with-a-long-`, clear]);
  });
});

test('a terminal that says it has 0 columns gets the whole line', () => {
  const out = terminal(true, 0);
  new ProgressLine(out, 'data.csv').show({ ...waiting, waitMs: 0 });
  expect(out.written[0]).toMatch(/in 0 s$/);
});

test('elsewhere each wait is one line, and nothing else is written', () => {
  const out = terminal(false);
  const line = new ProgressLine(out, 'some/data.csv');
  line.show({ kind: 'sending', attempt: 1, sent: 10, bytes: 10 });
  line.show(waiting);
  vi.advanceTimersByTime(10_000);
  line.end();
  expect(out.written).toEqual(['weir: some/data.csv: 503 internal; attempt 2 in 3 s\n']);
});
