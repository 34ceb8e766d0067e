import { expect, test } from 'vitest';
import { type Answer, ask, jsonOf } from '../support/ask.ts';
import { head, RawSocket } from '../support/raw-socket.ts';
import { accepted, freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

const good = { day: '2026-03-01', amount: '1' };

/** 401, 403, 404 and 405 (specification, "Access keys"; DECISIONS 6). */
export function doorCases(weir: TheWeir): void {
  const authorizations: Record<string, Record<string, string>> = {
    'no Authorization': {},
    'an empty Authorization': { Authorization: '' },
    'a key without Bearer': { Authorization: 'wk_live_abc' },
    'another scheme': { Authorization: 'Basic wk_live_abc' },
    'Bearer without a key': { Authorization: 'Bearer ' },
    'an unknown key': { Authorization: 'Bearer wk_live_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA' },
    'a key with characters that no key has': { Authorization: "Bearer ' or 1=1 --" },
    'a key of 10,000 characters': { Authorization: `Bearer ${'a'.repeat(10_000)}` },
  };
  test.each(Object.entries(authorizations))('%s is 401 everywhere', async (_, headers) => {
    for (const answer of await everywhere(weir().url, headers)) expectUnauthenticated(answer);
  });

  test('a key in the address is no key', async () => {
    const { sender } = await weir().source();
    const { key, url } = sender;
    expectUnauthenticated(await ask(`${url}/v1/samples?access_key=${key}&key=${key}`));
  });

  test('the scheme is taken in any case (RFC 9110, section 11.1)', async () => {
    const { sender } = await weir().source();
    const headers = { Authorization: `bEARER ${sender.key}` };
    expect((await ask(`${sender.url}/v1/samples`, { headers })).status).toBe(200);
  });

  test('an expired key is 401 everywhere', async () => {
    const source = await weir().source();
    const { key } = await source.withKey({ expiresMs: -1 });
    const headers = { Authorization: `Bearer ${key}` };
    for (const answer of await everywhere(weir().url, headers)) expectUnauthenticated(answer);
  });

  test('a revoked key is 401 with its next request, on the same connection too', async () => {
    const source = await weir().source();
    const sender = await source.withKey();
    const socket = await RawSocket.open(weir().port);
    const request = head('GET /v1/samples', { Authorization: `Bearer ${sender.key}` });
    socket.write(request);
    expect((await socket.answer()).status).toBe(200);
    await weir().catalog.directory.revokeKey(sender.keyId, Date.now());
    socket.write(request);
    expect((await socket.answer()).status).toBe(401);
    socket.destroy();
    expectUnauthenticated(await sender.push(good));
  });

  const scopes = [
    { scope: 'read', push: 403, samples: 200 },
    { scope: 'write', push: 202, samples: 403 },
    { scope: 'read_write', push: 202, samples: 200 },
  ] as const;
  test.each(scopes)('a key of scope $scope: push $push, read $samples', async (row) => {
    const source = await weir().source();
    const sender = await source.withKey({ scope: row.scope });
    for (const [answer, status] of [
      [await sender.push(good), row.push],
      [await sender.get('/v1/samples'), row.samples],
    ] as const) {
      expect(answer.status).toBe(status);
      if (status === 403) expectInsufficient(answer);
    }
  });

  test('a key made before scopes existed is write', async () => {
    const source = await weir().source();
    const sender = await source.withKey({ scope: null });
    expectInsufficient(await sender.get('/v1/samples'));
    expect(accepted(await sender.push(good)).status).toBe('queued');
  });

  test('every live key of a source may ask what became of a delivery', async () => {
    const source = await weir().source();
    const { artifact_id } = accepted(await source.sender.push(good));
    for (const scope of ['read', 'write'] as const) {
      const sender = await source.withKey({ scope });
      expect((await sender.get(`/v1/deliveries/${artifact_id}`)).status).toBe(200);
    }
  });

  test('a write key cannot push to a webhook source', async () => {
    const source = await weir().source({ delivery: 'webhook' });
    expectInsufficient(await source.sender.push(good));
    expectInsufficient(await source.sender.document('day,amount\n'));
    expect(await source.deliveries()).toEqual([]);
  });

  test('401 comes before 403, 403 before 413 and 413 before 400', async () => {
    const source = await weir().source();
    const reader = await source.withKey({ scope: 'read' });
    const huge = { 'Content-Length': '8388609', 'Content-Type': 'text/plain' };
    const statusOf = async (key: string, headers: Record<string, string>) => {
      const socket = await RawSocket.open(weir().port);
      socket.write(head('POST /v1/ingest', { Authorization: `Bearer ${key}`, ...headers }));
      const { status } = await socket.answer();
      socket.destroy();
      return status;
    };
    expect(await statusOf('wk_live_nobody', huge)).toBe(401);
    expect(await statusOf(reader.key, huge)).toBe(403);
    expect(await statusOf(source.sender.key, huge)).toBe(413);
    expect(await statusOf(source.sender.key, { ...huge, 'Content-Length': '5' })).toBe(400);
  });

  const nowhere = [
    ...['/', '/v1', '/v1/', '/v1/ingest/', '/v1/Ingest', '/v2/ingest', '/v1/samples/x'],
    ...['/v1/deliveries', '/v1/deliveries/a/b', '/livez', '/metrics', '/..', '/v1%2fingest'],
  ];
  test.each(nowhere)('the unknown path %s is 404', async (path) => {
    const { sender } = await weir().source();
    for (const method of ['GET', 'POST', 'HEAD', 'DELETE']) {
      const answer = await ask(`${weir().url}${path}`, {
        method,
        headers: { Authorization: `Bearer ${sender.key}` },
      });
      expect(answer.status).toBe(404);
      expect(answer.headers['content-type']).toBe('application/json');
      if (method !== 'HEAD') {
        const message = 'There is nothing at this address.';
        expect(jsonOf(answer)).toEqual({ code: 'not_found', message });
      }
    }
  });

  const addresses = [
    { path: '/v1/ingest', allow: 'POST' },
    { path: '/v1/samples', allow: 'GET' },
    { path: '/v1/deliveries/01a1fb42-67ec-725a-ba18-bed032c51381', allow: 'GET' },
  ];
  test.each(addresses)('$path takes $allow only: others are 405 with Allow', async (address) => {
    const others = ['GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'PATCH'];
    for (const method of others.filter((one) => one !== address.allow)) {
      const answer = await ask(`${weir().url}${address.path}`, { method });
      expect([method, answer.status]).toEqual([method, 405]);
      expect(answer.headers.allow).toBe(address.allow);
      if (method === 'HEAD') expect(answer.body).toHaveLength(0);
      else expect(jsonOf<{ code: string }>(answer).code).toBe('method_not_allowed');
    }
  });

  test('a HEAD is answered without a body, so the connection goes on', async () => {
    const { sender } = await weir().source();
    const socket = await RawSocket.open(weir().port);
    const own = { Authorization: `Bearer ${sender.key}` };
    for (const [path, status] of [
      ['/v1/samples', 405],
      ['/nowhere', 404],
    ] as const) {
      socket.write(head(`HEAD ${path}`, own));
      await expectHeadAnswer(socket, status);
    }
    socket.write(head('GET /v1/samples', own));
    expect((await socket.answer()).status).toBe(200);
    socket.destroy();
  });

  test('what a sandbox key stores is not read as production, nor the reverse', async () => {
    const source: TestSource = await weir().source();
    const sandbox = await source.withKey({ sandbox: true });
    await source.sender.settled(await source.sender.push({ ...good, amount: '1' }, freshKey()));
    await sandbox.settled(await sandbox.push({ ...good, amount: '2' }, freshKey()));
    for (const sender of [source.sender, sandbox]) {
      const { samples } = await sender.samples('from=2026-03-01&to=2026-03-02');
      expect(samples.map(({ value, sandbox: test }) => [value, test])).toEqual([
        ['1', false],
        ['2', true],
      ]);
    }
  });
}

async function everywhere(url: string, headers: Record<string, string>): Promise<Answer[]> {
  const id = '01a1fb42-67ec-725a-ba18-bed032c51381';
  return [
    await ask(`${url}/v1/samples`, { headers }),
    await ask(`${url}/v1/deliveries/${id}`, { headers }),
    await ask(`${url}/v1/ingest`, { method: 'POST', headers, body: '{}' }),
    await ask(`${url}/v1/ingest`, { method: 'POST', headers, body: '{}', chunked: true }),
  ];
}

function expectUnauthenticated(answer: Answer): void {
  expect(answer.status).toBe(401);
  expect(answer.headers['www-authenticate']).toBe('Bearer');
  const message = 'A valid access key is needed.';
  expect(jsonOf(answer)).toEqual({ code: 'unauthenticated', message });
}

function expectInsufficient(answer: Answer): void {
  expect(answer.status).toBe(403);
  expect(jsonOf<{ code: string }>(answer).code).toBe('insufficient_scope');
}

/** The head tells the length of a body that does not come. */
async function expectHeadAnswer(socket: RawSocket, status: number): Promise<void> {
  const until = Date.now() + 5_000;
  while (!socket.received.includes('\r\n\r\n') && Date.now() < until) {
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  // A body would come with its head, in the same write.
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(socket.received).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(socket.received).toMatch(/\r\nContent-Length: [1-9][0-9]*\r\n/);
  expect(socket.received.endsWith('\r\n\r\n')).toBe(true);
  socket.forget();
}
