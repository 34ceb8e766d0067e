import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseResponse, responseBytesMax } from '../../../src/artifacts/s3/response.ts';

const parse = (text: string) => parseResponse(Buffer.from(text, 'latin1'));

const chunked = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n';

const good = [
  {
    title: 'a body by its length',
    text: 'HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nabcde',
    want: { status: 403, body: 'abcde', keepAlive: true },
  },
  {
    title: 'a body in chunks, with an extension and a trailer',
    text: `${chunked}3;x=y\r\nabc\r\n2\r\nde\r\n0\r\nT: 1\r\n\r\n`,
    want: { status: 200, body: 'abcde', keepAlive: true },
  },
  {
    title: 'an interim answer before the real one',
    text: 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n',
    want: { status: 200, body: '', keepAlive: true },
  },
  {
    title: 'no reason phrase and no body',
    text: 'HTTP/1.1 204\r\n\r\n',
    want: { status: 204, body: '', keepAlive: true },
  },
  {
    title: 'a connection that closes',
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive, Close\r\n\r\n',
    want: { status: 200, body: '', keepAlive: false },
  },
  {
    title: 'a server of HTTP/1.0',
    text: 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n',
    want: { status: 200, body: '', keepAlive: false },
  },
];

const bad = [
  { title: 'another protocol', text: 'SSH-2.0-x\r\n\r\n' },
  { title: 'another version', text: 'HTTP/2 200 OK\r\n\r\n' },
  { title: 'no length', text: 'HTTP/1.1 200 OK\r\n\r\n' },
  {
    title: 'two lengths',
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na',
  },
  {
    title: 'a length and chunks',
    text: 'HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  },
  { title: 'a negative length', text: 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n' },
  { title: 'another coding', text: 'HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n' },
  { title: 'a folded header', text: 'HTTP/1.1 200 OK\r\nA: 1\r\n b\r\nContent-Length: 0\r\n\r\n' },
  { title: 'a space before the colon', text: 'HTTP/1.1 200 OK\r\nContent-Length : 0\r\n\r\n' },
  {
    title: 'a chunk longer than its size',
    text: `${chunked}1\r\nabc\r\n0\r\n\r\n`,
  },
  { title: 'too much', text: 'x'.repeat(responseBytesMax + 1) },
];

describe('reading an answer', () => {
  test.each(good)('understands $title', ({ text, want }) => {
    const parsed = parse(text);
    const { status, body, keepAlive } = parsed!.response;
    expect({ status, body: body.toString(), keepAlive }).toEqual(want);
    expect(parsed!.used).toBe(text.length);
  });

  test.each(bad)('refuses $title', ({ text }) => {
    expect(() => parse(text)).toThrow();
  });

  test('waits for the rest wherever an answer is cut, and leaves what follows it', () => {
    fc.assert(
      fc.property(fc.constantFrom(...good), fc.nat(), ({ text }, cut) => {
        expect(parse(text.slice(0, cut % text.length))).toBeNull();
        expect(parse(`${text}HTTP/1.1 2`)!.used).toBe(text.length);
      }),
    );
  });

  test('finds a header whatever its case, with the white space around it gone', () => {
    const { headers } = parse(
      'HTTP/1.1 200 OK\r\nETag: \t"a" \r\nContent-Length:0\r\n\r\n',
    )!.response;
    expect(headers.get('etag')).toBe('"a"');
  });
});
