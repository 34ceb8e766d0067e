import { expect, test } from 'vitest';
import { WorkLine } from '../../src/start/work-line.ts';

function shown(isTTY: boolean, columns = 100) {
  const written: string[] = [];
  let now = 0;
  const out = { isTTY, columns, write: (text: string) => written.push(text) };
  const line = new WorkLine(out, () => now);
  const at = (seconds: number, deliveries: number, mebibytes: number) => {
    now = seconds * 1_000;
    const bytes = { done: mebibytes * 1_048_576, all: 40 * 1_048_576 };
    line.show({ kind: 'building', deliveries: { done: deliveries, all: 400 }, bytes });
  };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the code that clears a line
  const last = () => written.at(-1)?.replace(/\r\x1b\[2K/, '');
  return { line, at, last, written };
}

test('shows deliveries, bytes, rate and the time left', () => {
  const { at, last } = shown(true);
  at(0, 0, 0);
  expect(last()).toBe('░░░░░░░░░░░░░░░░░░░░ 0 of 400 deliveries, 0.0 of 40.0 MiB');
  at(10, 100, 10);
  expect(last()).toBe(
    '█████░░░░░░░░░░░░░░░ 100 of 400 deliveries, 10.0 of 40.0 MiB, 1.0 MiB/s, 30 s left',
  );
  at(600, 200, 20);
  expect(last()).toMatch(/, 10 min left$/);
});

test('is cut to the width of the terminal, and taken away at the end', () => {
  const { at, last, line } = shown(true, 30);
  at(0, 0, 0);
  expect(last()).toHaveLength(29);
  line.show({ kind: 'comparing', done: 1, all: 2 });
  expect(last()).toBe('██████████░░░░░░░░░░ compared');
  line.end();
  expect(last()).toBe('');
});

test('shows nothing where there is no terminal', () => {
  const { at, line, written } = shown(false);
  at(0, 0, 0);
  line.end();
  expect(written).toEqual([]);
});
