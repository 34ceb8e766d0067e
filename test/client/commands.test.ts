import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import {
  deliveryIdProblem,
  readSignatureHeader,
  signatureCheck,
  signatureTimeProblem,
} from '../../src/domain/signature.ts';
import {
  type Act,
  accepted,
  answer,
  FakeService,
  type Received,
  receipt,
  refusal,
} from './fake-service.ts';

const launcher = fileURLToPath(new URL('../../src/start/weir', import.meta.url));
const service = new FakeService();
const folder = mkdtempSync(join(tmpdir(), 'weir-commands-'));
beforeAll(() => service.start());
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

/** Runs the command line as a user does. */
function weir(...args: readonly string[]) {
  const child = spawn(launcher, args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
  const out = { code: null as number | null, stdout: '', stderr: '' };
  child.stdout.on('data', (text) => {
    out.stdout += text;
  });
  child.stderr.on('data', (text) => {
    out.stderr += text;
  });
  return new Promise<typeof out>((resolve) => {
    child.on('close', (code) => resolve({ ...out, code }));
  });
}

function file(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return name;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('weir push', () => {
  const push = (...args: string[]) => weir('push', '--url', service.url, '--key', 'k', ...args);

  test('every file has its receipt: exit code 0, one JSON array, nothing on stderr', async () => {
    service.will(accepted);
    const files = [file('a.csv', 'a\n'), file('b.csv', 'b\n')];
    const { code, stdout, stderr } = await push('--json', ...files);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(JSON.parse(stdout)).toEqual([
      {
        ...receipt,
        ...{ file: 'a.csv', idempotency_key: sha256('a\n'), attempts: 1, replayed: false },
      },
      {
        ...receipt,
        ...{ file: 'b.csv', idempotency_key: sha256('b\n'), attempts: 1, replayed: false },
      },
    ]);
    expect(service.received.map(({ headers }) => headers.authorization)).toEqual([
      'Bearer k',
      'Bearer k',
    ]);
  });

  test('one fails: the others are sent, it is named on stderr, exit code 1', async () => {
    service.will(refusal(413, 'invalid_argument'), accepted);
    const files = [file('a.csv', 'a\n'), 'nowhere.csv', file('b.csv', 'b\n')];
    const { code, stdout, stderr } = await push('--json', ...files);
    expect(code).toBe(1);
    expect(JSON.parse(stdout).map((one: { file: string }) => one.file)).toEqual(['b.csv']);
    expect(stderr).toContain('weir: a.csv: invalid_argument: No.\n');
    expect(stderr).toMatch(/weir: nowhere\.csv: unreadable: .*ENOENT/);
  });

  test('a replay says that old bytes do not bring old values back', async () => {
    service.will(answer(202, receipt, { 'Idempotency-Replayed': 'true' }));
    const { code, stderr } = await push(file('a.csv', 'a\n'));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^weir: a\.csv: .*do not bring old values back: change a byte/);
  });

  test('other bytes under a used key say that they were not stored', async () => {
    const headers = { 'Idempotency-Replayed': 'true', 'Idempotency-Body-Differs': 'true' };
    service.will(answer(202, receipt, headers));
    const { code, stderr } = await push('--idempotency-key', 'used', file('a.csv', 'a\n'));
    expect(code).toBe(0);
    expect(stderr).toMatch(/^weir: a\.csv: .*these bytes were NOT stored/);
  });

  test('a message of the service cannot move the cursor', async () => {
    service.will(answer(400, { code: 'invalid_argument', message: 'No\u001b[2J.\nno' }));
    const { stderr } = await push(file('a.csv', 'a\n'));
    expect(stderr).toBe('weir: a.csv: invalid_argument: No [2J. no\n');
  });

  test('a wait is told, and the file gets its receipt after it', async () => {
    service.will(refusal(429, 'rate_limited', { 'Retry-After': '1' }), accepted);
    const { code, stdout, stderr } = await push('--json', file('a.csv', 'a\n'));
    expect(code).toBe(0);
    expect(JSON.parse(stdout)[0]).toMatchObject({ attempts: 2 });
    expect(stderr).toBe('weir: a.csv: 429 rate_limited; attempt 2 in 1 s\n');
  });

  test('a source of another kind brings a hint', async () => {
    const field = { field: 'Content-Type' };
    service.will(answer(400, { code: 'invalid_argument', message: 'Other.', ...field }));
    const { code, stderr } = await push(file('a.csv', 'a\n'));
    expect(code).toBe(1);
    expect(stderr).toMatch(/^weir: a\.csv: invalid_argument \(Content-Type\): Other\. See /);
  });

  test.each([
    ['no file', []],
    ['one key for two files', ['--idempotency-key', 'x', 'a.csv', 'b.csv']],
    ['a key with a space', ['--idempotency-key', 'a b', 'a.csv']],
    ['shape version 0', ['--shape-version', '0', 'a.csv']],
    ['an address without http', ['--url', 'weir.example', 'a.csv']],
    ['an unknown option', ['--what', 'a.csv']],
  ])('%s is wrong usage: exit code 2, nothing is sent', async (_, args) => {
    service.will(accepted);
    const { code, stdout, stderr } = await push(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toBe('');
    expect(service.received).toEqual([]);
  });
});

/** Takes what is signed with the secret, as a webhook source does; 404 otherwise. */
function verifying(secret: string): Act {
  return (response, received) => {
    const act = holds(secret, received) ? accepted : refusal(404, 'not_found');
    act(response, received);
  };
}

function holds(secret: string, { headers, body }: Received): boolean {
  const reading = readSignatureHeader(String(headers['service-signature']));
  const id = String(headers['service-delivery-id']);
  if ('problem' in reading || deliveryIdProblem(id)) return false;
  if (signatureTimeProblem(reading.time, Date.now())) return false;
  const check = signatureCheck(secret, reading.timeText, id);
  check.update(body);
  return check.matches(reading.signatures);
}

describe('weir send', () => {
  const address = () => `${service.url}/v1/webhooks/01980000-0000-7000-8000-000000000002`;
  const send = (...args: string[]) => weir('send', '--url', address(), ...args);

  test('signs what it sends, under the sha256 of the file', async () => {
    service.will(verifying('whsec_abc'));
    const name = file('event.json', '{"month":"2026-01","mrr":10.50}');
    const { code, stdout, stderr } = await send('--json', '--secret', 'whsec_abc', name);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const id = sha256('{"month":"2026-01","mrr":10.50}');
    expect(JSON.parse(stdout)).toEqual([
      { ...receipt, file: name, delivery_id: id, attempts: 1, replayed: false },
    ]);
    const { path, headers } = service.received[0]!;
    expect(path).toBe('/v1/webhooks/01980000-0000-7000-8000-000000000002');
    expect(headers).toMatchObject({ 'content-type': 'application/json' });
    expect(headers).not.toHaveProperty('authorization');
  });

  test('sends .csv as text/csv, under the id given', async () => {
    service.will(verifying('whsec_abc'));
    const name = file('rows.CSV', 'month,mrr\n2026-01,10.50\n');
    const { code } = await send('--secret', 'whsec_abc', '--delivery-id', 'evt:1', name);
    expect(code).toBe(0);
    expect(service.received[0]!.headers).toMatchObject({
      ...{ 'content-type': 'text/csv', 'service-delivery-id': 'evt:1' },
    });
  });

  test('with a wrong secret fails at once: exit code 1', async () => {
    service.will(verifying('whsec_abc'));
    const { code, stdout, stderr } = await send('--json', '--secret', 'x', file('e.json', '{}'));
    expect({ code, stdout }).toEqual({ code: 1, stdout: '[]\n' });
    expect(stderr).toBe('weir: e.json: not_found: No.\n');
    expect(service.received).toHaveLength(1);
  });

  test.each([
    ['two files', ['--secret', 'x', 'a.json', 'b.json']],
    ['no secret', ['a.json']],
    ['a delivery id with a dot', ['--secret', 'x', '--delivery-id', 'a.b', 'a.json']],
  ])('%s is wrong usage: exit code 2', async (_, args) => {
    service.will(accepted);
    expect(await send(...args)).toMatchObject({ code: 2, stdout: '' });
    expect(service.received).toEqual([]);
  });
});
