import { expect, test } from 'vitest';
import { head, type RawAnswer, RawSocket } from '../support/raw-socket.ts';
import { freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

const body = 'day,amount\n2026-03-01,1\n';
const hex = body.length.toString(16);

/** How bodies are delimited and connections go on (RFC 9112; DECISIONS 6). */
export function framingCases(weir: TheWeir): void {
  const hostile: Record<string, string> = {
    'two Content-Length': `Content-Length: ${body.length}\r\nContent-Length: ${body.length}`,
    'two differing Content-Length': `Content-Length: ${body.length}\r\nContent-Length: 5`,
    'an empty Content-Length': 'Content-Length: ',
    'a Content-Length with a sign': `Content-Length: +${body.length}`,
    'a negative Content-Length': 'Content-Length: -1',
    'a Content-Length list': `Content-Length: ${body.length}, ${body.length}`,
    'a Content-Length in hex': `Content-Length: 0x${hex}`,
    'a Content-Length beyond all numbers': `Content-Length: ${'9'.repeat(40)}`,
    'Content-Length and Transfer-Encoding': 'Content-Length: 5\r\nTransfer-Encoding: chunked',
    'Transfer-Encoding and Content-Length': `Transfer-Encoding: chunked\r\nContent-Length: 0`,
    'Transfer-Encoding gzip': 'Transfer-Encoding: gzip',
    'Transfer-Encoding gzip, chunked': 'Transfer-Encoding: gzip, chunked',
    'Transfer-Encoding chunked, chunked': 'Transfer-Encoding: chunked, chunked',
    'two Transfer-Encoding': 'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    'an empty Transfer-Encoding': 'Transfer-Encoding: ',
    'Transfer-Encoding identity': 'Transfer-Encoding: identity',
    'Transfer-Encoding xchunked': 'Transfer-Encoding: xchunked',
  };
  for (const line of ['POST /v1/ingest', 'GET /v1/samples', 'PUT /v1/ingest', 'POST /nowhere']) {
    test.each(Object.entries(hostile))(
      `${line} with %s is 400 and ends the connection`,
      async (_, lines) => {
        const source = await weir().source({ delivery: 'document' });
        const before = await weir().storedObjects();
        const bytes = head(line, documentHead(source)).slice(0, -2);
        // The parser takes an empty length for nought: what followed would be a request of its own.
        const withBody = lines.includes('Transfer') ? `${hex}\r\n${body}\r\n0\r\n\r\n` : body;
        const ending = lines === 'Content-Length: ' ? '' : withBody;
        const socket = await RawSocket.open(weir().port);
        socket.write(`${bytes}${lines}\r\n\r\n${ending}`);
        // Where there is nothing to read, its error may come instead.
        const statuses = { 'PUT /v1/ingest': [400, 405], 'POST /nowhere': [400, 404] };
        const expected = statuses[line as keyof typeof statuses] ?? [400];
        expect(expected).toContain((await socket.answer()).status);
        expect(await socket.end(2_000)).toBe(true);

        // What a second reader could take for a request of its own is never answered.
        const again = await RawSocket.open(weir().port);
        const smuggled = head('GET /v1/samples', documentHead(source));
        again.write(`${bytes}${lines}\r\n\r\n${ending}${smuggled}`);
        expect(await again.end(2_000)).toBe(true);
        expect(again.received).not.toContain('HTTP/1.1 200');

        expect(await weir().storedObjects()).toEqual(before);
        expect(await source.deliveries()).toEqual([]);
      },
    );
  }

  const chunkings: Record<string, string> = {
    'one chunk': `${hex}\r\n${body}\r\n0\r\n\r\n`,
    'a chunk for each byte': `${[...body].map((c) => `1\r\n${c}\r\n`).join('')}0\r\n\r\n`,
    'a size in capitals': `${hex.toUpperCase()}\r\n${body}\r\n0\r\n\r\n`,
    'a size with leading noughts': `000${hex}\r\n${body}\r\n000\r\n\r\n`,
  };
  test.each(Object.entries(chunkings))('a chunked body is taken: %s', async (_, chunks) => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    const own = { ...documentHead(source), 'Transfer-Encoding': 'chunked' };
    socket.write(head('POST /v1/ingest', own) + chunks);
    const { artifact_id } = receipt(await socket.answer());
    const delivery = await weir().catalog.deliveries.byArtifact(artifact_id);
    expect(delivery?.bytes).toBe(body.length);
    socket.destroy();
  });

  test('a chunked body that comes byte by byte is taken', async () => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    const own = { ...documentHead(source), 'Transfer-Encoding': 'chunked' };
    socket.write(head('POST /v1/ingest', own));
    for (const c of `${hex}\r\n${body}\r\n0\r\n\r\n`) {
      socket.write(c);
      await socket.flushed();
    }
    receipt(await socket.answer());
    socket.destroy();
  });

  test.each(['zz', '-5', 'ffffffffffffffffffff'])('the chunk size %s is 400', async (size) => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    const own = { ...documentHead(source), 'Transfer-Encoding': 'chunked' };
    socket.write(`${head('POST /v1/ingest', own)}${size}\r\n${body}\r\n0\r\n\r\n`);
    expect((await socket.answer()).status).toBe(400);
    expect(await socket.end(2_000)).toBe(true);
    expect(await source.deliveries()).toEqual([]);
  });

  test('Expect: 100-continue is answered before the body is sent', async () => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    const own = { ...documentHead(source), Expect: '100-continue' };
    socket.write(head('POST /v1/ingest', { ...own, 'Content-Length': String(body.length) }));
    expect((await socket.answer()).status).toBe(100);
    socket.write(body);
    receipt(await socket.answer());
    socket.destroy();
  });

  const refusals: Record<string, readonly [string, Record<string, string>, number]> = {
    'a 400': ['POST /v1/ingest', { 'Idempotency-Key': '' }, 400],
    'a 401': ['POST /v1/ingest', { Authorization: 'Bearer no' }, 401],
    'a 404': ['POST /nowhere', {}, 404],
    'a 405': ['PUT /v1/ingest', {}, 405],
  };
  for (const chunked of [false, true]) {
    const how = chunked ? 'chunked' : 'of a declared length';
    test.each(Object.entries(refusals))(
      `after %s the connection goes on, its body (${how}) passed over`,
      async (_, [line, headers, status]) => {
        const source = await weir().source({ delivery: 'document' });
        const socket = await RawSocket.open(weir().port);
        const large = Buffer.alloc(300_000, 'x');
        const own = { ...documentHead(source), ...headers };
        const framing: Record<string, string> = chunked
          ? { 'Transfer-Encoding': 'chunked' }
          : { 'Content-Length': String(large.length) };
        socket.write(head(line, { ...own, ...framing }));
        if (chunked) socket.write(`${large.length.toString(16)}\r\n`);
        socket.write(large);
        if (chunked) socket.write('\r\n0\r\n\r\n');
        expect((await socket.answer()).status).toBe(status);
        await sendGood(socket, source);
        socket.destroy();
      },
    );
  }

  test('after a 413 the connection goes on once the body is over', async () => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    const bytes = 9_000_000;
    const own = { ...documentHead(source), 'Content-Length': String(bytes) };
    socket.write(head('POST /v1/ingest', own));
    socket.write(Buffer.alloc(bytes, 'x'));
    expect((await socket.answer()).status).toBe(413);
    await sendGood(socket, source);
    socket.destroy();
  });

  test('bodies of 8 MiB and small ones take turns on one connection', async () => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    for (let i = 0; i < 8; i++) {
      await sendGood(socket, source, `${body}2026-03-02,${i}\n${'x'.repeat(8_300_000)}`);
      await sendGood(socket, source, `${body}2026-03-02,${i}\n`);
    }
    socket.destroy();
  });

  test('a hundred deliveries go over one connection', async () => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    for (let i = 0; i < 100; i++) await sendGood(socket, source, `${body}2026-03-02,${i}\n`);
    expect(await source.deliveries()).toHaveLength(100);
    socket.destroy();
  });

  test('a head of 15 KB is taken, one over 16 KiB is 431', async () => {
    const source = await weir().source();
    for (const [bytes, status] of [
      [15_000, 200],
      [20_000, 431],
    ] as const) {
      const socket = await RawSocket.open(weir().port);
      const own = { ...documentHead(source), 'X-Filler': 'x'.repeat(bytes) };
      socket.write(head('GET /v1/samples', own));
      expect((await socket.answer()).status).toBe(status);
      socket.destroy();
    }
  });
}

async function sendGood(socket: RawSocket, source: TestSource, text = body): Promise<void> {
  const own = { ...documentHead(source), 'Content-Length': String(text.length) };
  socket.write(head('POST /v1/ingest', own) + text);
  receipt(await socket.answer());
}

function receipt(answer: RawAnswer): { artifact_id: string } {
  expect([answer.status, answer.body]).toEqual([202, expect.stringContaining('artifact_id')]);
  return JSON.parse(answer.body) as { artifact_id: string };
}

function documentHead(source: TestSource): Record<string, string> {
  return {
    Authorization: `Bearer ${source.sender.key}`,
    'Content-Type': 'application/octet-stream',
    'Idempotency-Key': freshKey(),
  };
}
