import { createHash } from 'node:crypto';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { deliveryBytesMax, fileBody } from '../../src/client/body.ts';
import { type PushFileOptions, pushFile } from '../../src/client/push-file.ts';
import { accepted, answer, FakeService, reset, VirtualTime } from './fake-service.ts';

const service = new FakeService();
const folder = mkdtempSync(join(tmpdir(), 'weir-push-'));
beforeAll(() => service.start());
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

function pushOne(path: string, options?: PushFileOptions) {
  const { clock, sleep } = new VirtualTime();
  return pushFile({ baseUrl: service.url, accessKey: 'k' }, path, options, { clock, sleep });
}

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

const otherKind = answer(400, {
  ...{ code: 'invalid_argument', message: 'Another type.', field: 'Content-Type' },
});

describe('a document', () => {
  test.each<[string, string | Uint8Array]>([
    ['data.csv', 'a,b\n1,2\n'],
    ['data.ndjson', '{"a":"1"}\n{"a":"2"}\n'],
    ['list.json', '[{"idempotency_key":"x","payload":{}}]'],
    ['object.json', '{"month":"2026-01"}'],
    ['half.json', '{"idempotency_key":"x","payload":'],
    ['key-only.json', '{"idempotency_key":"x"}'],
    ['with-bom.json', '\uFEFF{"idempotency_key":"x","payload":{}}'],
    ['latin1.json', Buffer.from('{"idempotency_key":"\xe4","payload":{}}', 'latin1')],
    ['spaces.json', '   \n'],
    ['random.bin', Buffer.from([0, 1, 2, 255])],
  ])('%s goes as it is, under its sha256', async (name, content) => {
    service.will(accepted);
    const pushed = await pushOne(file(name, content));
    expect(pushed).toMatchObject({ idempotencyKey: sha256(content), attempts: 1 });
    const [{ headers, body } = { headers: {}, body: Buffer.of() }] = service.received;
    expect(headers).toMatchObject({
      'content-type': 'application/octet-stream',
      'idempotency-key': sha256(content),
      'content-length': String(Buffer.byteLength(content)),
    });
    expect(headers).not.toHaveProperty('content-encoding');
    expect(headers).not.toHaveProperty('x-service-shape-version');
    expect(body.equals(Buffer.from(content))).toBe(true);
  });

  test.each([
    ['a.csv.gz', 'gzip'],
    ['a.csv.ZST', 'zstd'],
  ])('%s is sent as stored, its encoding named', async (name, encoding) => {
    service.will(accepted);
    await pushOne(file(name, 'packed'), { idempotencyKey: 'mine', shapeVersion: 4 });
    expect(service.received[0]!.body.toString()).toBe('packed');
    expect(service.received[0]!.headers).toMatchObject({
      ...{ 'content-encoding': encoding, 'idempotency-key': 'mine' },
      'x-service-shape-version': '4',
    });
  });

  test('is the same in every attempt', async () => {
    const content = Buffer.from(Array.from({ length: 1_000_000 }, (_, i) => i % 251));
    service.will(reset, reset, accepted);
    await pushOne(file('large.bin', content));
    expect(service.received.map(({ body }) => sha256(body))).toEqual(
      Array(3).fill(sha256(content)),
    );
  });

  test('that changes between two attempts is not sent again', async () => {
    const path = file('growing.csv', 'a,b\n');
    service.will((response) => {
      appendFileSync(path, '1,2\n');
      response.socket!.destroy();
    }, accepted);
    await expect(pushOne(path)).rejects.toMatchObject({ code: 'file_changed' });
    expect(service.received).toHaveLength(1);
  });
});

describe('a push', () => {
  test('with idempotency_key and payload goes as it is', async () => {
    const text = ' {"payload": {"mrr":"10.50"},\n "idempotency_key": "k-1", "shape_version": 2}\n';
    service.will(accepted);
    const pushed = await pushOne(file('push.json', text), { shapeVersion: 2 });
    expect(pushed.idempotencyKey).toBe('k-1');
    const [received] = service.received;
    expect(received!.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(received!.headers).not.toHaveProperty('idempotency-key');
    expect(received!.body.toString()).toBe(text);
  });

  test.each<[string, PushFileOptions]>([
    ['key', { idempotencyKey: 'other' }],
    ['shape version', { shapeVersion: 3 }],
  ])('that names another %s than was asked for is not sent', async (_, options) => {
    const path = file('own.json', '{"idempotency_key":"k","shape_version":2,"payload":{}}');
    service.will(accepted);
    await expect(pushOne(path, options)).rejects.toMatchObject({ code: 'conflict', attempts: 0 });
    expect(service.received).toEqual([]);
  });

  test('is made of a payload when a shape version is given, its text unchanged', async () => {
    const text = '{"month": "2026-01",  "mrr": "10.50"}\n';
    service.will(accepted);
    const pushed = await pushOne(file('payload.json', text), { shapeVersion: 3 });
    const [received] = service.received;
    expect(received!.headers).toMatchObject({ 'content-type': 'application/json' });
    expect(received!.body.toString()).toContain(text.trim());
    expect(JSON.parse(received!.body.toString())).toEqual({
      idempotency_key: sha256(text),
      shape_version: 3,
      payload: { month: '2026-01', mrr: '10.50' },
    });
    expect(pushed.idempotencyKey).toBe(sha256(text));
  });

  test('is a document after all where the source takes documents', async () => {
    const text = '{"month": "2026-01"}';
    service.will(otherKind, accepted);
    await pushOne(file('record.json', text), { shapeVersion: 3 });
    expect(service.received.map(({ headers }) => headers['content-type'])).toEqual([
      'application/json',
      'application/octet-stream',
    ]);
    expect(service.received[1]!.body.toString()).toBe(text);
    expect(service.received[1]!.headers).toMatchObject({ 'x-service-shape-version': '3' });
  });

  test.each(['{"n": 1}', '{}', '{"a":{"b":"c"}}'])('is not made of %s', async (text) => {
    service.will(accepted);
    await pushOne(file('no-payload.json', text), { shapeVersion: 1 });
    expect(service.received[0]!.headers['content-type']).toBe('application/octet-stream');
  });

  test('that is an envelope is not turned into a document', async () => {
    service.will(otherKind);
    const path = file('envelope.json', '{"idempotency_key":"k","shape_version":1,"payload":{}}');
    await expect(pushOne(path)).rejects.toMatchObject({ field: 'Content-Type' });
    expect(service.received).toHaveLength(1);
  });
});

describe('a file that cannot be sent is refused before anything is', () => {
  test('one byte over 8 MiB, without being read', async () => {
    service.will(accepted);
    const path = file('large.csv', Buffer.alloc(deliveryBytesMax + 1));
    await expect(pushOne(path)).rejects.toMatchObject({
      code: 'too_large',
      attempts: 0,
      message: expect.stringMatching(/^8388609 bytes are more than the 8388608 .* Split it/),
    });
    expect(service.received).toEqual([]);
  });

  test('8 MiB exactly is sent', async () => {
    service.will(accepted);
    await pushOne(file('full.csv', Buffer.alloc(deliveryBytesMax)));
    expect(service.received[0]!.body).toHaveLength(deliveryBytesMax);
  });

  test('a payload that is too large only once it is wrapped', async () => {
    service.will(accepted);
    const text = `{"a":"${'x'.repeat(deliveryBytesMax - 8)}"}`;
    const path = file('nearly.json', text);
    await expect(pushOne(path, { shapeVersion: 1 })).rejects.toMatchObject({ code: 'too_large' });
  });

  test.each(['nowhere.csv', '.'])('%s', async (name) => {
    await expect(pushOne(join(folder, name))).rejects.toMatchObject({ code: 'unreadable' });
  });
});

test('a file stays on disk: its parts are small', async () => {
  const body = await fileBody(file('parts.bin', Buffer.alloc(1_000_000)));
  const sizes: number[] = [];
  for await (const part of body.parts()) sizes.push(part.length);
  expect(Math.max(...sizes)).toBeLessThanOrEqual(65_536);
  expect(sizes.reduce((a, b) => a + b)).toBe(1_000_000);
});
