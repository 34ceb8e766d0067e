import { expect, test } from 'vitest';
import { ownPath } from '../../src/console/own-path.ts';

test.each([
  ['/sources', '/sources'],
  ['/sources/1/samples?from=2026-01-01#x', '/sources/1/samples?from=2026-01-01#x'],
  ['/a/../metrics', '/metrics'],
  [undefined, '/'],
  ['', '/'],
  ['sources', '/'],
  ['https://example.com/', '/'],
  ['//example.com/', '/'],
  ['/\\example.com/', '/'],
  ['/\t/example.com', '/'],
  ['/.//example.com', '/'],
  ['//[', '/'],
  ['javascript:alert(1)', '/'],
  ['/sign-in?to=/sign-in', '/'],
])('after a sign-in, %j leads to %j', (text, path) => {
  expect(ownPath(text)).toBe(path);
});
