import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  type OpenApi,
  type Operation,
  operationsOf,
  rulesOf,
  typeText,
} from '../../src/console/reference/document.ts';
import {
  curlOf,
  type Draft,
  examplesOf,
  firstDraft,
  requestOf,
} from '../../src/console/reference/request.ts';
import { sendRequest } from '../../src/console/reference/send-request.ts';
import { signatureCheck } from '../../src/domain/signature.ts';
import { openapiJson } from '../../src/serve/openapi.ts';

const run = promisify(execFile);
const credentials = { accessKey: 'wk_test_x', signingSecret: 'ws_y' };

/** Keeps what the last request was. */
let last: { line: string; headers: IncomingHttpHeaders; body: string };
const server = createServer(async (request, response) => {
  const body = (await request.toArray()).join('');
  last = { line: `${request.method} ${request.url}`, headers: request.headers, body };
  response.writeHead(403, { 'Content-Type': 'application/json' });
  response.end('{"code":"insufficient_scope","message":"No."}');
});
let base: string;
let api: OpenApi;
beforeAll(async () => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  api = JSON.parse(openapiJson(base)) as OpenApi;
});
afterAll(() => server.close());

const named = (id: string) => operationsOf(api).find(({ operationId }) => operationId === id)!;

/** Sends by the page's code, then by the command that it shows; both must be the same. */
async function sendBothWays(operation: Operation, change: Partial<Draft>) {
  const request = requestOf(base, operation, { ...firstDraft(operation), ...change });
  const answer = await sendRequest(request, operation, credentials);
  const sent = last;
  const SIGNATURE = sent.headers['service-signature'] as string | undefined;
  const env = { ...process.env, WEIR_KEY: credentials.accessKey, ...(SIGNATURE && { SIGNATURE }) };
  await run('sh', ['-c', `${curlOf(request, operation)} -sS`], { env });
  const shown = ['authorization', 'content-type', 'idempotency-key', 'service-delivery-id'];
  for (const name of [...shown, 'service-signature', 'if-none-match']) {
    expect(last.headers[name], name).toBe(sent.headers[name]);
  }
  expect([last.line, last.body]).toEqual([sent.line, sent.body]);
  return { answer, sent };
}

describe('the form', () => {
  test('sends a push as its example has it', async () => {
    const { sent } = await sendBothWays(named('ingest'), {});
    expect(sent.line).toBe('POST /v1/ingest');
    expect(sent.headers).toMatchObject({
      authorization: 'Bearer wk_test_x',
      'content-type': 'application/json',
    });
    expect(JSON.parse(sent.body)).toHaveProperty('idempotency_key');
  });

  test('sends what was typed as it was typed, quotes and lines too', async () => {
    const ingest = named('ingest');
    const mediaType = 'application/octet-stream';
    const body = `it's "one"\n$HOME \`x\` \\n é\n`;
    const values = { 'Idempotency-Key': "a'b$c" };
    const { sent } = await sendBothWays(ingest, { mediaType, body, values });
    expect(sent.headers['idempotency-key']).toBe("a'b$c");
    expect(Object.keys(examplesOf(ingest, mediaType))).toEqual(['csv']);
  });

  test('puts parameters where they belong, and leaves empty ones out', async () => {
    const values = { from: '2026-01-01', to: '', sandbox: 'true', 'If-None-Match': '"x"' };
    const { sent } = await sendBothWays(named('getSamples'), { values });
    expect(sent.line).toBe('GET /v1/samples?from=2026-01-01&sandbox=true');
    const view = await sendBothWays(named('getDelivery'), { values: { artifact_id: 'a/b' } });
    expect(view.sent.line).toBe('GET /v1/deliveries/a%2Fb');
  });

  test('signs a webhook as the service checks it, and sends no secret', async () => {
    const values = { source_id: 's', 'Service-Delivery-Id': 'evt-1' };
    const { sent } = await sendBothWays(named('deliverWebhook'), { values });
    const [, time, v1] = /^t=(\d+),v1=(\w+)$/.exec(sent.headers['service-signature'] as string)!;
    const check = signatureCheck(credentials.signingSecret, time!, 'evt-1');
    check.update(Buffer.from(sent.body));
    expect(check.matches([Buffer.from(v1!, 'hex')])).toBe(true);
    expect(JSON.stringify(sent)).not.toContain(credentials.signingSecret);
    expect(sent.headers.authorization).toBeUndefined();
  });

  test('shows an answer with its code, and JSON in lines', async () => {
    const { answer } = await sendBothWays(named('getSamples'), {});
    expect(answer).toMatchObject({ status: 403, code: 'insufficient_scope' });
    expect(answer.body).toContain('\n  "message": "No."');
  });

  test('never puts a key into a command', () => {
    for (const operation of operationsOf(api)) {
      const command = curlOf(requestOf(base, operation, firstDraft(operation)), operation);
      expect(command.includes('$WEIR_KEY')).toBe(operation.keyed);
      expect(command).not.toContain('wk_');
    }
  });
});

test('a schema is told in few words', () => {
  expect(typeText({ type: 'array', items: { $ref: '#/components/schemas/Sample' } })).toBe(
    'array of Sample',
  );
  expect(typeText({ anyOf: [{ type: 'integer' }, { type: 'null' }] })).toBe('integer or null');
  expect(typeText({ type: 'object', additionalProperties: { type: 'string' } })).toBe(
    'object of string',
  );
  expect(rulesOf({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER, enum: ['a', 'b'] })).toEqual([
    'one of "a", "b"',
    'at least 1',
  ]);
  expect(rulesOf({ format: 'uuid', pattern: '^.$', maxLength: 3 })).toEqual([
    'at most 3 characters',
  ]);
});
