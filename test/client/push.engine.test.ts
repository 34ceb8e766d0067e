import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fileBody } from '../../src/client/body.ts';
import { pushFile } from '../../src/client/push-file.ts';
import { push, pushDocument } from '../../src/client/sender.ts';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';

/** `weir push` against a weir as users run it: its embedded engine is why the suffix stands. */

const run = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'weir-push-real-'));
let weir: RunningWeir;
let pushKey = '';
let documentKey = '';

beforeAll(async () => {
  const [api, app, ops] = await freePorts(3);
  const dataDir = join(folder, 'data');
  weir = new RunningWeir({ dataDir, api: api!, app: app!, ops: ops! });
  await weir.start();
  const { company_id: company } = await weir.cli<{ company_id: string }>(
    ...['company', 'create', '--name', 'Acme', '--timezone', 'Europe/Berlin'],
  );
  const metric = ['--key', 'mrr', '--name', 'MRR', '--unit', 'EUR'];
  await weir.cli('metric', 'declare', '--company', company, ...metric);
  pushKey = await keyOfNewSource(company, 'push');
  documentKey = await keyOfNewSource(company, 'document');
});

afterAll(async () => {
  await weir.end();
  rmSync(folder, { recursive: true });
});

async function keyOfNewSource(company: string, delivery: string): Promise<string> {
  const fields = [
    { name: 'month', role: 'period', grain: 'month' },
    { name: 'mrr', role: 'value', metric: 'mrr' },
  ];
  const shape = file('shape.json', JSON.stringify({ fields }));
  const of = ['--company', company, '--name', delivery, '--delivery', delivery];
  const { source_id: source } = await weir.cli<{ source_id: string }>(
    ...['source', 'create', ...of, '--shape', shape],
  );
  const { access_key: key } = await weir.cli<{ access_key: string }>(
    ...['key', 'create', source, '--scope', 'read_write'],
  );
  return key;
}

function file(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

interface PushReceipt {
  readonly artifact_id: string;
  readonly shape_version: number;
  readonly status: string;
  readonly idempotency_key: string;
  readonly replayed: boolean;
}

function pushWith(key: string, ...args: string[]): Promise<PushReceipt[]> {
  return weir.cli<PushReceipt[]>('push', '--url', weir.url, '--key', key, ...args);
}

/** The bytes that weir keeps under a receipt. */
async function stored(receipt: PushReceipt | undefined): Promise<Buffer> {
  const out = join(folder, 'stored');
  const launcher = join(import.meta.dirname, '../../src/start/weir');
  const args = ['delivery', 'download', receipt!.artifact_id, '--out', out];
  await run(launcher, args, { env: weir.env() });
  return readFileSync(out);
}

const sha256 = (content: string | Uint8Array) => createHash('sha256').update(content).digest('hex');

describe('weir push', () => {
  test('documents of every kind are stored byte for byte, in the order given', async () => {
    const rows = 'month,mrr\n2026-01,10.50\n';
    const contents = [rows, gzipSync(rows), `${rows}${'2026-02,1\n'.repeat(800_000)}`];
    const names = ['a.csv', 'a.csv.gz', 'large.csv'];
    const paths = names.map((name, i) => file(name, contents[i]!));
    const receipts = await pushWith(documentKey, ...paths);
    expect(receipts).toMatchObject(
      contents.map((content) => ({
        ...{ idempotency_key: sha256(content), status: 'queued', replayed: false },
      })),
    );
    for (const [i, receipt] of receipts.entries()) {
      expect(sha256(await stored(receipt))).toBe(sha256(contents[i]!));
    }
  });

  test('the same file again brings the first receipt', async () => {
    const path = file('again.csv', 'month,mrr\n2026-03,1\n');
    const [first] = await pushWith(documentKey, path);
    const [second] = await pushWith(documentKey, path, '--idempotency-key', 'another-name');
    expect(first).toMatchObject({ replayed: false });
    expect(second).toMatchObject({ artifact_id: first!.artifact_id, replayed: true });
  });

  test('a push is stored as it is in its file', async () => {
    const payload = { month: '2026-04', mrr: '10.50' };
    const text = JSON.stringify({ idempotency_key: 'april', shape_version: 1, payload }, null, 2);
    const [receipt] = await pushWith(pushKey, file('april.json', text));
    expect(receipt).toMatchObject({ idempotency_key: 'april', shape_version: 1 });
    expect((await stored(receipt)).toString()).toBe(text);
  });

  test('a payload becomes a push at a push source, a document at a document source', async () => {
    const text = '{"month": "2026-05", "mrr": "10.50"}';
    const path = file('may.json', text);
    const [pushed] = await pushWith(pushKey, path, '--shape-version', '1');
    expect(JSON.parse((await stored(pushed)).toString())).toMatchObject({
      ...{ idempotency_key: sha256(text), payload: { month: '2026-05', mrr: '10.50' } },
    });
    const [document] = await pushWith(documentKey, path, '--shape-version', '1');
    expect((await stored(document)).toString()).toBe(text);
  });

  test('what the service refuses is named with its code and field: exit code 1', async () => {
    const path = file('june.json', '{"month": "2026-06"}');
    const refused = pushWith(pushKey, path, '--shape-version', '1');
    await expect(refused).rejects.toMatchObject({
      code: 1,
      stdout: '[]\n',
      stderr: expect.stringContaining('june.json: invalid_argument (payload.mrr): '),
    });
    const unknown = pushWith('wk_live_nobody', path, '--shape-version', '1');
    await expect(unknown).rejects.toMatchObject({
      ...{ code: 1, stderr: expect.stringContaining('june.json: unauthenticated: ') },
    });
  });
});

describe('a program that sends', () => {
  test('gets the same receipt for the same key, also for other bytes', async () => {
    const to = { baseUrl: weir.url, accessKey: pushKey };
    const july = { idempotencyKey: 'july', shapeVersion: 1 };
    const first = await push(to, { ...july, payload: { month: '2026-07', mrr: '1' } });
    const second = await push(to, { ...july, payload: { month: '2026-07', mrr: '2' } });
    expect(first).toMatchObject({ attempts: 1, replayed: false, bodyDiffers: false });
    expect(second).toEqual({ ...first, replayed: true, bodyDiffers: true });
  });

  test('sees the refusal of 8 MiB that are still on their way', async () => {
    const to = { baseUrl: weir.url, accessKey: 'wk_live_nobody' };
    const path = file('full.csv', Buffer.alloc(8_388_608, 'x'));
    for (let i = 0; i < 5; i++) {
      const body = await fileBody(path);
      const refused = pushDocument(to, { idempotencyKey: 'x', body });
      await expect(refused).rejects.toMatchObject({ status: 401, code: 'unauthenticated' });
    }
  });

  test('gets its receipt although the service is away at first', async () => {
    const to = { baseUrl: weir.url, accessKey: documentKey };
    const path = file('restart.csv', 'month,mrr\n2026-08,1\n');
    await weir.end();
    const waits: number[] = [];
    const sleep = async (ms: number) => {
      waits.push(ms);
      await weir.start();
    };
    const sent = await pushFile(to, path, {}, { sleep, random: () => 1 });
    expect(sent).toMatchObject({ attempts: 2, replayed: false });
    expect(waits).toEqual([30_000]);
  });
});
