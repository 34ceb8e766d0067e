import { afterAll, beforeAll, expect, test } from 'vitest';
import { head, RawSocket } from '../support/raw-socket.ts';
import { appClient, signedIn } from '../support/signed-in.ts';
import { TestWeir } from '../support/test-weir.ts';

const mebibyte = 1024 * 1024;
/** What a stranger may send at once. */
const bytesMax = mebibyte / 8;

/** Begins a sign-in and sends all of its body but the end. */
async function begin(weir: TestWeir, bytes: number): Promise<RawSocket> {
  const { app } = weir.running.place;
  const socket = await RawSocket.open(app);
  const own = `Host: localhost:${app}\r\nOrigin: http://localhost:${app}\r\n`;
  socket.write(`POST /app/api/sign-in HTTP/1.1\r\n${own}Content-Length: ${bytes + 1}\r\n\r\n`);
  socket.write(Buffer.alloc(bytes, ' '));
  return socket;
}

let weir: TestWeir;
beforeAll(async () => {
  weir = await TestWeir.start();
});
afterAll(() => weir?.stop());

test.each([
  'Transfer-Encoding: xchunked\r\n',
  'Transfer-Encoding: chunked\r\nContent-Length: 5\r\n',
  'Content-Length: 5\r\nContent-Length: 40\r\n',
])('%j is refused, and nothing that follows is read as a request', async (framing) => {
  const { app } = weir.running.place;
  const socket = await RawSocket.open(app);
  const own = { Host: `localhost:${app}`, Origin: `http://localhost:${app}` };
  const post = head('POST /app/api/sign-out', own).replace(/\r\n$/, `${framing}\r\n`);
  socket.write(`${post}0\r\n\r\n${head('GET /app/api/session', own)}`);
  expect(await socket.end(2_000)).toBe(true);
  // Cut before the answer where the rest came along with it.
  expect(socket.received).toMatch(/^(HTTP\/1\.1 400|$)/);
  expect(socket.received.split('HTTP/1.1 ').length).toBeLessThanOrEqual(2);
});

test('a body without a sign-in has 128 KiB at most', async () => {
  const json = { token: 'a'.repeat(bytesMax) };
  const answer = await appClient(weir.running.place)('/app/api/invitation', { json });
  expect([answer.status, await answer.json()]).toMatchObject([413, { code: 'too_large' }]);
});

test('bodies that never end hold 16 MiB at most, and no stop up', async () => {
  const many = 150;
  const left = 128;
  const sockets: RawSocket[] = [];
  for (let i = 0; i < many; i += 1) sockets.push(await begin(weir, bytesMax - 1));
  const isRefused = ({ received }: RawSocket) => received.includes('did not come in time');
  const refused = () => [...sockets.keys()].filter((i) => isRefused(sockets[i]!));
  // The deadline ends none of those that are left in this time.
  await expect.poll(() => refused().length, { timeout: 5_000 }).toBe(many - left);
  expect(refused().at(-1)).toBe(many - left - 1);
  expect(await sockets[0]!.end(1_000)).toBe(true);
  const user = await signedIn(weir);
  const unit = 'x'.repeat(mebibyte / 2);
  const answer = await user('/app/api/metrics', {
    json: { key: 'a', name: 'A', unit, labels: [] },
  });
  expect(await answer.json()).toMatchObject({ code: 'invalid_argument', field: 'unit' });
  for (const socket of sockets) socket.destroy();
  const before = performance.now();
  await weir.running.end();
  expect(performance.now() - before).toBeLessThan(5_000);
});
