import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { framedLength, putHead, trailer } from '../../../src/artifacts/s3/put.ts';

const address = {
  secure: false,
  host: 'store.example',
  port: 9000,
  accessKey: 'admin',
  secretKey: 'secret',
  bucket: 'weir',
  region: 'us-east-1',
};
const object = '2026/11/20/00000000-0000-7000-8000-000000000000';
const sum = createHash('sha256').update('abc').digest();
const now = Date.UTC(2026, 10, 20, 22, 54);

describe('the PUT of a body', () => {
  test('declares, before the body, its length, the trailer and the metadata, all signed', () => {
    const meta = { 'x-amz-meta-delivery': 'push' };
    const lines = putHead(address, { object, length: 300, meta, now }).split('\r\n');
    expect(lines[0]).toBe(`PUT /weir/${object} HTTP/1.1`);
    expect(lines.slice(1, 8)).toEqual([
      'host: store.example:9000',
      'content-encoding: aws-chunked',
      'x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER',
      'x-amz-date: 20261120T225400Z',
      'x-amz-decoded-content-length: 300',
      'x-amz-trailer: x-amz-checksum-sha256',
      'x-amz-meta-delivery: push',
    ]);
    expect(lines[8]).toContain(
      'SignedHeaders=content-encoding;host;x-amz-content-sha256;x-amz-date;' +
        'x-amz-decoded-content-length;x-amz-meta-delivery;x-amz-trailer,',
    );
    expect(lines.slice(9)).toEqual(['content-length: 380', '', '12c', '']);
  });

  test('ends with an empty chunk and the checksum', () => {
    const base64 = 'ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=';
    expect(trailer(sum, 3)).toBe(`\r\n0\r\nx-amz-checksum-sha256:${base64}\r\n\r\n`);
    expect(trailer(sum, 0)).toBe(`0\r\nx-amz-checksum-sha256:${base64}\r\n\r\n`);
  });

  test('is as long as it says, whatever the body', () => {
    fc.assert(
      fc.property(fc.nat({ max: 8_388_608 }), (length) => {
        const head = putHead(address, { object, length, meta: {}, now });
        const opening = head.slice(head.indexOf('\r\n\r\n') + 4);
        const sent = opening.length + length + trailer(sum, length).length;
        expect(sent).toBe(framedLength(length));
        expect(head).toContain(`content-length: ${sent}\r\n`);
      }),
    );
  });
});
