import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Listener, listen } from '../../src/http/listener.ts';
import type { Route } from '../../src/http/routes.ts';
import { ThreadsBusy } from '../../src/parse/locate-pool.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';

const failures: Record<string, Error> = {
  busy: new ThreadsBusy('too many wait'),
  away: Object.assign(new Error('the store hangs'), { code: 'store_away' }),
  broken: new Error('nobody thought of this'),
};
const routes = Object.entries(failures).map(
  ([name, failure]): Route => ({
    method: 'GET',
    pattern: `/${name}`,
    handle: () => Promise.reject(failure),
  }),
);

let url: string;
let listener: Listener;
const logged: unknown[] = [];
beforeAll(async () => {
  const [port] = await freePorts(1);
  const log = { error: ({ err }: { err?: unknown }) => void logged.push(err) };
  listener = await listen({ host: '127.0.0.1', port: port! }, routes, log);
  url = `http://127.0.0.1:${port}`;
});
afterAll(() => listener.close(0));

test.each([
  ['busy', 503, false],
  ['away', 503, true],
  ['broken', 500, true],
] as const)('a failure that is %s is a %i; in the log: %s', async (name, status, inLog) => {
  const answer = await fetch(`${url}/${name}`);
  const { code, message } = (await answer.json()) as { code: string; message: string };
  expect([answer.status, code]).toEqual([status, 'internal']);
  expect(message).not.toContain(failures[name]!.message);
  expect(answer.headers.get('retry-after')).toBe(status === 503 ? '5' : null);
  expect(logged.includes(failures[name])).toBe(inLog);
});
