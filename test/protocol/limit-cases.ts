import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { type Answer, jsonOf } from '../support/ask.ts';
import { head, RawSocket } from '../support/raw-socket.ts';
import { accepted, freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

const max = limits.deliveryBytesMax;
const run = promisify(execFile);
const tooLarge = {
  code: 'invalid_argument',
  message: 'A delivery has at most 8388608 bytes.',
  field: 'body',
};

/** 413 over 8,388,608 bytes (specification, "Limits"; DECISIONS 6). */
export function limitCases(weir: TheWeir): void {
  for (const chunked of [false, true]) {
    const how = chunked ? 'chunked' : 'with its length';

    test(`a document of exactly 8 MiB is accepted, ${how}`, async () => {
      const source = await weir().source({ delivery: 'document' });
      const answer = await source.sender.document(document(max), freshKey(), {}, chunked);
      const { artifact_id } = accepted(answer);
      const delivery = await weir().catalog.deliveries.byArtifact(artifact_id);
      expect(delivery?.bytes).toBe(max);
    });

    test(`a document of 8 MiB and a byte is 413 and claims nothing, ${how}`, async () => {
      const source = await weir().source({ delivery: 'document' });
      const key = freshKey();
      await refused(source, () => source.sender.document(document(max + 1), key, {}, chunked));
      const retry = await source.sender.document(document(64), key);
      expect(retry.headers['idempotency-replayed']).toBeUndefined();
      accepted(retry);
    });

    test(`a push of exactly 8 MiB is accepted, one byte more is 413, ${how}`, async () => {
      const source = await weir().source();
      await refused(source, () => source.sender.pushText(push(max + 1), chunked));
      accepted(await source.sender.pushText(push(max), chunked));
    });
  }

  test('a chunked document far over the limit is 413 once its sender has finished', async () => {
    const source = await weir().source({ delivery: 'document' });
    const send = () => source.sender.document(document(3 * max), freshKey(), {}, true);
    await refused(source, send);
  });

  test('a chunked body without end is cut off, after a bound', async () => {
    const source = await weir().source({ delivery: 'document' });
    const before = await weir().storedObjects();
    const socket = await RawSocket.open(weir().port);
    socket.write(head('POST /v1/ingest', documentHead(source, { 'Transfer-Encoding': 'chunked' })));
    const chunk = Buffer.concat([Buffer.from('100000\r\n'), Buffer.alloc(1 << 20), crlf]);
    let megabytes = 0;
    // Who still sends when the connection ends may lose the answer to a reset.
    for (; socket.received === '' && socket.writable && megabytes < 200; megabytes++) {
      socket.write(chunk);
      await Promise.race([socket.flushed(), socket.end(5_000)]);
    }
    expect(await socket.end(15_000)).toBe(true);
    expect(megabytes).toBeGreaterThan(limits.discardBytesMax / 2 ** 20 - 1);
    expect(megabytes).toBeLessThan(150);
    expect(await weir().storedObjects()).toEqual(before);
    expect(await source.deliveries()).toEqual([]);
  });

  test('a declared length over the limit is answered before the body is sent', async () => {
    const source = await weir().source({ delivery: 'document' });
    const socket = await RawSocket.open(weir().port);
    socket.write(
      head('POST /v1/ingest', documentHead(source, { 'Content-Length': '999999999999' })),
    );
    const answer = await socket.answer();
    expect([answer.status, JSON.parse(answer.body)]).toEqual([413, tooLarge]);
    socket.destroy();
  });

  describeClients(weir);

  async function refused(source: TestSource, send: () => Promise<Answer>): Promise<void> {
    const before = await weir().storedObjects();
    const answer = await send();
    expect([answer.status, jsonOf(answer)]).toEqual([413, tooLarge]);
    expect(await weir().storedObjects()).toEqual(before);
    expect(await source.deliveries()).toEqual([]);
  }
}

/** Many clients read no answer before they have sent everything; others stop at once. */
function describeClients(weir: TheWeir): void {
  const clients: Record<string, (source: TestSource, body: Buffer) => Promise<[number, string]>> = {
    fetch: async (source, body) => {
      const answer = await fetch(`${weir().url}/v1/ingest`, {
        method: 'POST',
        headers: documentHead(source),
        body: new Uint8Array(body),
      });
      return [answer.status, await answer.text()];
    },
    'node:http': async (source, body) => {
      const answer = await source.sender.document(body);
      return [answer.status, answer.text];
    },
    'a plain socket that writes everything first': async (source, body) => {
      const socket = await RawSocket.open(weir().port);
      const length = { 'Content-Length': String(body.length) };
      socket.write(head('POST /v1/ingest', documentHead(source, length)));
      socket.write(body);
      await socket.flushed();
      const answer = await socket.answer();
      socket.destroy();
      return [answer.status, answer.body];
    },
    'python http.client': async (source, body) => {
      const { stdout } = await run('python3', [
        ...['-c', pythonClient, String(weir().port), source.sender.key, String(body.length)],
      ]);
      const [status = '', ...text] = stdout.split('\n');
      return [Number(status), text.join('\n').trim()];
    },
    curl: async (source, body) => {
      const headers = Object.entries(documentHead(source)).flatMap(([k, v]) => [
        '-H',
        `${k}: ${v}`,
      ]);
      const url = `${weir().url}/v1/ingest`;
      const child = run('curl', [
        ...['-s', '-w', '\n%{http_code}', ...headers, '--data-binary', '@-', url],
      ]);
      // curl stops reading when it has its answer.
      child.child.stdin?.on('error', () => {}).end(body);
      const [text = '', status] = (await child).stdout.split('\n');
      return [Number(status), text];
    },
  };
  test.each(Object.entries(clients))('%s sees the 413 while it still sends', async (_, send) => {
    const source = await weir().source({ delivery: 'document' });
    for (const bytes of [max + 1, 2 * max, 5 * max]) {
      const [status, text] = await send(source, document(bytes));
      expect([status, JSON.parse(text)]).toEqual([413, tooLarge]);
    }
    expect(await source.deliveries()).toEqual([]);
  });
}

const pythonClient = `
import http.client, sys
port, key, length = int(sys.argv[1]), sys.argv[2], int(sys.argv[3])
connection = http.client.HTTPConnection('127.0.0.1', port)
headers = {'Authorization': 'Bearer ' + key, 'Content-Type': 'application/octet-stream',
           'Idempotency-Key': 'python'}
connection.request('POST', '/v1/ingest', b'x' * length, headers)
answer = connection.getresponse()
print(answer.status)
print(answer.read().decode())
`;

const crlf = Buffer.from('\r\n');

function documentHead(source: TestSource, more: Record<string, string> = {}) {
  return {
    Authorization: `Bearer ${source.sender.key}`,
    'Content-Type': 'application/octet-stream',
    'Idempotency-Key': freshKey(),
    ...more,
  };
}

/** A CSV document of so many bytes, most of them in one undeclared cell. */
function document(bytes: number): Buffer {
  const start = 'day,amount,note\n2026-03-01,1,';
  return Buffer.from(start + 'x'.repeat(bytes - start.length));
}

function push(bytes: number): string {
  const [before, after] = [
    `{"idempotency_key":"${freshKey()}","shape_version":1,"payload":{"note":"`,
    '","day":"2026-03-01","amount":"1"}}',
  ];
  return before + 'x'.repeat(bytes - before.length - after.length) + after;
}
