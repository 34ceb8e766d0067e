import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSamples } from '../../src/samples/clickhouse.ts';
import type { SampleStore } from '../../src/samples/samples.ts';

/** Chunks of answers are given back once read: no answer may lose bytes to another's. */

let server: http.Server;
let store: SampleStore;

/** What a window from that day on holds. */
const rowsOf = (day: number) =>
  Array.from({ length: 2_000 + (day % 7) }, (_, i) => `{"day":${day},"row":${i}}`);

beforeAll(async () => {
  server = http.createServer((request, response) => {
    const last = new URL(request.url!, 'http://h').searchParams.get('param_last');
    const day = -Number(last);
    const text = Buffer.from(
      rowsOf(day)
        .map((row) => `${row}\n`)
        .join(''),
    );
    // Many small chunks come to the reader in one piece of memory.
    request.socket.cork();
    const bytes = day % 3 === 0 ? text.length : 97 + day;
    if (day % 3 === 1) response.setHeader('Content-Length', text.length);
    for (let at = 0; at < text.length; at += bytes) response.write(text.subarray(at, at + bytes));
    response.end();
    request.socket.uncork();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const address = { url: `http://127.0.0.1:${port}`, username: 'u', password: 'p' };
  store = openSamples({ ...address, database: 'd' });
});
afterAll(async () => {
  await store.close();
  server.close();
});

test('reads at once each have their own rows, however the answers were cut', async () => {
  const sourceId = '00000000-0000-4000-8000-000000000000';
  const read = async (day: number) => {
    const limit = day % 2 === 0 ? 2_000 : 5_000;
    const around = { before: `{"é":${day},"rows":`, after: (cut: boolean) => `,"cut":${cut}}` };
    const window = { sourceId, fromDay: day, toDay: day + 9, limit, around };
    const { json, count, truncated } = await store.window(window);
    return { day, limit, json, count, truncated };
  };
  const answers = [];
  for (let round = 0; round < 4; round++) {
    answers.push(
      ...(await Promise.all(Array.from({ length: 40 }, (_, i) => read(round * 40 + i)))),
    );
  }
  for (const { day, limit, json, count, truncated } of answers) {
    const rows = rowsOf(day);
    const taken = rows.slice(0, limit);
    const cut = rows.length > limit;
    expect(json.toString()).toBe(`{"é":${day},"rows":[${taken.join(',')}],"cut":${cut}}`);
    expect([count, truncated]).toEqual([taken.length, cut]);
  }
});
