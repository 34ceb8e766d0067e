import { randomUUID } from 'node:crypto';
import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { head, RawSocket } from '../../support/raw-socket.ts';
import { type TestSource, TestWeir } from '../../support/test-weir.ts';
import { webhookHead } from '../../support/webhook.ts';
import { declareBigSource, fillWithBigSamples } from '../clients/big-answer.ts';

/**
 * A stop (SIGTERM) answers all that was begun: uploads, webhooks, reads, and what is asked on
 * connections that were idle when it came. Each answer says that it is its connection's last.
 */

const graceMs = 15_000;

test('a stop answers what is under way, and what comes on idle connections', {
  timeout: 60_000,
}, async () => {
  const weir = await TestWeir.start();
  try {
    const [push, documents, hook] = [
      await weir.source(),
      await weir.source({ delivery: 'document' }),
      await weir.source({ delivery: 'webhook' }),
    ];
    const big = await declareBigSource(weir);
    const answerBytes = await fillWithBigSamples(big);
    const idle = await Promise.all(Array.from({ length: 5 }, () => RawSocket.open(weir.port)));
    for (const socket of idle) await askOnce(socket, push);
    const uploads = [
      await begin(weir, ...pushOf(push, 100)),
      await begin(weir, ...pushOf(push, 300_000)),
      await begin(weir, ...documentOf(documents, 20)),
      await begin(weir, ...documentOf(documents, 5_000_000)),
      await begin(weir, ...webhookOf(hook, 20)),
      await begin(weir, ...webhookOf(hook, 500_000)),
    ];
    const reader = await readSlowly(weir, big);
    await sleep(200);

    const ended = weir.running.died();
    const signalled = performance.now();
    process.kill(weir.running.pid!, 'SIGTERM');
    await sleep(100);
    const late = idle.slice(0, 3).map((socket) => askOnce(socket, push));
    for (const answer of await Promise.all(late)) expect(answer).toEqual([200, 'close']);
    expect(await refused(idle[3]!)).toEqual([401, 'close']);
    await sleep(300);
    for (const upload of uploads) upload.finish();
    const answers = await Promise.all(uploads.map(({ socket }) => socket.answer()));
    expect(answers.map(({ status, body }) => [status, JSON.parse(body).status])).toEqual(
      uploads.map(() => [202, 'queued']),
    );
    for (const { socket } of uploads) socket.destroy();
    for (const socket of idle) socket.destroy();
    // Longer than a stop waits for who does not ask: an answer that is read slowly is under way.
    await sleep(1_000);
    expect(await reader.rest()).toBeGreaterThan(answerBytes);
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(performance.now() - signalled).toBeLessThan(graceMs);

    await weir.running.start();
    for (const [i, source] of [push, push, documents, documents, hook, hook].entries()) {
      const { artifact_id } = JSON.parse(answers[i]!.body) as { artifact_id: string };
      expect(await source.deliveries()).toContain(artifact_id);
    }
  } finally {
    await weir.stop();
  }
});

/** Is refused while it sends, and reads the refusal. @returns status and `Connection` */
async function refused(socket: RawSocket): Promise<[number, string | undefined]> {
  const length = 4_000_000;
  const headers = { Authorization: 'Bearer wrong', 'Content-Length': String(length) };
  socket.write(head('POST /v1/ingest', headers));
  for (let sent = 0; sent < length; sent += 100_000) {
    socket.write(Buffer.alloc(100_000, 'x'));
    await sleep(1);
  }
  const answer = await socket.answer();
  return [answer.status, answer.headers.get('connection')];
}

async function askOnce(socket: RawSocket, source: TestSource): Promise<[number, string?]> {
  socket.write(head('GET /v1/samples', { Authorization: `Bearer ${source.sender.key}` }));
  const { status, headers } = await socket.answer();
  const connection = headers.get('connection');
  return connection === undefined ? [status] : [status, connection];
}

type Upload = readonly [path: string, headers: Record<string, string>, body: Buffer];

function pushOf(source: TestSource, bytes: number): Upload {
  const payload = { day: '2026-03-01', amount: '1', note: 'x'.repeat(bytes) };
  const body = { idempotency_key: randomUUID(), shape_version: 1, payload };
  const headers = { ...keyOf(source), 'Content-Type': 'application/json' };
  return ['/v1/ingest', headers, Buffer.from(JSON.stringify(body))];
}

function documentOf(source: TestSource, bytes: number): Upload {
  const own = { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': randomUUID() };
  const body = Buffer.from(`day,amount\n2026-03-01,${bytes}\n`.padEnd(bytes, '\n'));
  return ['/v1/ingest', { ...keyOf(source), ...own }, body];
}

function webhookOf(source: TestSource, bytes: number): Upload {
  const body = Buffer.from(`{"day":"2026-03-01","amount":"${bytes}"}`.padEnd(bytes, ' '));
  const headers = webhookHead(source, { body, deliveryId: randomUUID() });
  return [`/v1/webhooks/${source.sourceId}`, headers as Record<string, string>, body];
}

function keyOf(source: TestSource) {
  return { Authorization: `Bearer ${source.sender.key}` };
}

/** Sends the first half of a request's body. */
async function begin(weir: TestWeir, path: string, headers: Record<string, string>, body: Buffer) {
  const socket = await RawSocket.open(weir.port);
  socket.write(head(`POST ${path}`, { ...headers, 'Content-Length': String(body.length) }));
  const half = body.length >> 1;
  socket.write(body.subarray(0, half));
  return { socket, finish: () => socket.write(body.subarray(half)) };
}

/** Asks for an answer larger than what the system takes, and reads it when `rest` is called. */
async function readSlowly(weir: TestWeir, source: TestSource) {
  const socket = net.connect(weir.port, '127.0.0.1').pause();
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(head('GET /v1/samples', keyOf(source)));
  return {
    /** How many bytes came until the end. @throws Error when the connection was reset */
    rest: () =>
      new Promise<number>((resolve, reject) => {
        let bytes = 0;
        socket.on('data', (part) => {
          bytes += part.length;
        });
        socket.once('error', reject);
        socket.once('close', () => resolve(bytes));
        socket.resume();
      }),
  };
}
