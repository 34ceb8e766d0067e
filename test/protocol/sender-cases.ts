import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { head, RawSocket } from '../support/raw-socket.ts';
import { accepted, freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

const megabyte = Buffer.alloc(1_000_000, 'x');
const csv = (amount: number) => `day,amount\n2026-03-01,${amount}\n`;

/** Senders that leave, hang or trickle (DECISIONS 5: nobody waits for another's upload). */
export function senderCases(weir: TheWeir): void {
  for (const chunked of [false, true]) {
    test(`a sender who leaves leaves nothing (chunked: ${chunked})`, async () => {
      const source = await weir().source({ delivery: 'document' });
      const before = await weir().storedObjects();
      for (const megabytes of [0, 1, 4]) {
        const { socket } = await begin(source, freshKey(), 5_000_000, chunked);
        for (let i = 0; i < megabytes; i++) writePart(socket, chunked);
        await socket.flushed();
        await sleep(50);
        socket.destroy();
      }
      await eventually(async () => expect(await weir().storedObjects()).toEqual(before));
      expect(await source.deliveries()).toEqual([]);
    });

    test(`a half-open sender does not block its own retry (chunked: ${chunked})`, async () => {
      const source = await weir().source({ delivery: 'document' });
      const key = freshKey();
      const { socket } = await begin(source, key, 2_000_000, chunked);
      writePart(socket, chunked);
      await socket.flushed();
      const started = Date.now();
      const retry = await source.sender.document(csv(1), key);
      expect(retry.headers['idempotency-replayed']).toBeUndefined();
      const { artifact_id } = accepted(retry);
      expect(Date.now() - started).toBeLessThan(3_000);

      // The first one wakes up again: it gets its retry's receipt and stores nothing.
      writePart(socket, chunked);
      if (chunked) socket.write('0\r\n\r\n');
      const late = await socket.answer();
      expect(late.status).toBe(202);
      expect(late.body).toBe(retry.text);
      expect(late.headers.get('idempotency-replayed')).toBe('true');
      expect(late.headers.get('idempotency-body-differs')).toBe('true');
      expect(await source.deliveries()).toEqual([artifact_id]);
      socket.destroy();
    });
  }

  test('fast senders do not wait for fifty slow ones', async () => {
    const source = await weir().source({ delivery: 'document' });
    const slow = await Promise.all(
      Array.from({ length: 50 }, () => begin(source, freshKey(), 3_000_000, false)),
    );
    try {
      for (const { socket } of slow) socket.write(megabyte.subarray(0, 20_000));
      const started = Date.now();
      for (let i = 0; i < 20; i++) accepted(await source.sender.document(csv(i)));
      expect(Date.now() - started).toBeLessThan(4_000);
    } finally {
      for (const { socket } of slow) socket.destroy();
    }
  });

  test('a sender who trickles is taken like any other', async () => {
    const source = await weir().source({ delivery: 'document' });
    const text = Buffer.from(csv(7));
    const { socket } = await begin(source, freshKey(), text.length, false);
    for (const byte of text) {
      socket.write(Buffer.of(byte));
      await sleep(20);
    }
    const answer = await socket.answer();
    expect(answer.status).toBe(202);
    const { artifact_id } = JSON.parse(answer.body) as { artifact_id: string };
    const delivery = await weir().catalog.deliveries.byArtifact(artifact_id);
    expect(delivery?.bytes).toBe(text.length);
    socket.destroy();
  });

  test('a sender who says nothing more is cut off and leaves nothing', async () => {
    const source = await weir().source({ delivery: 'document' });
    const before = await weir().storedObjects();
    const { socket } = await begin(source, freshKey(), 3_000_000, false);
    writePart(socket, false);
    expect(await socket.end(25_000)).toBe(true);
    expect(socket.received).toBe('');
    await eventually(async () => expect(await weir().storedObjects()).toEqual(before));
    expect(await source.deliveries()).toEqual([]);
  });
}

/** Sends the head of a document and nothing of its body. */
async function begin(
  source: TestSource,
  key: string,
  bytes: number,
  chunked: boolean,
): Promise<{ socket: RawSocket }> {
  const socket = await RawSocket.open(source.weir.port);
  const framing: Record<string, string> = chunked
    ? { 'Transfer-Encoding': 'chunked' }
    : { 'Content-Length': String(bytes) };
  const own = {
    Authorization: `Bearer ${source.sender.key}`,
    'Content-Type': 'application/octet-stream',
    'Idempotency-Key': key,
  };
  socket.write(head('POST /v1/ingest', { ...own, ...framing }));
  await socket.flushed();
  return { socket };
}

function writePart(socket: RawSocket, chunked: boolean): void {
  if (chunked) socket.write(`${megabyte.length.toString(16)}\r\n`);
  socket.write(megabyte);
  if (chunked) socket.write('\r\n');
}

async function eventually(check: () => Promise<void>): Promise<void> {
  for (const end = Date.now() + 5_000; ; await sleep(50)) {
    try {
      return await check();
    } catch (error) {
      if (Date.now() > end) throw error;
    }
  }
}
