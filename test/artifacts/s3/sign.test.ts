import { describe, expect, test } from 'vitest';
import { amzDate, authorization, type Signable } from '../../../src/artifacts/s3/sign.ts';

/** The examples of the Amazon S3 API reference, "Signature Calculations for the Header". */
const signer = {
  accessKey: 'AKIAIOSFODNN7EXAMPLE',
  secretKey: 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY',
  region: 'us-east-1',
};
const date = '20130524T000000Z';
const host = 'examplebucket.s3.amazonaws.com';
const emptySum = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
const textSum = '44ce7dd67c959e0d3524ffac1771dfbba87d2b6b4b4e99e42034a8b803f8b072';

const examples: { title: string; request: Signable; signed: string; signature: string }[] = [
  {
    title: 'GET of a range',
    request: {
      method: 'GET',
      path: '/test.txt',
      headers: {
        range: 'bytes=0-9',
        host,
        'x-amz-date': date,
        'x-amz-content-sha256': emptySum,
      },
      payload: emptySum,
    },
    signed: 'host;range;x-amz-content-sha256;x-amz-date',
    signature: 'f0e8bdb87c964420e857bd35b5d6ed310bd44f0170aba48dd91039c6036bdb41',
  },
  {
    title: 'PUT of a text under an encoded name',
    request: {
      method: 'PUT',
      path: '/test%24file.text',
      headers: {
        date: 'Fri, 24 May 2013 00:00:00 GMT',
        host,
        'x-amz-date': date,
        'x-amz-storage-class': 'REDUCED_REDUNDANCY',
        'x-amz-content-sha256': textSum,
      },
      payload: textSum,
    },
    signed: 'date;host;x-amz-content-sha256;x-amz-date;x-amz-storage-class',
    signature: '98ad721746da40c64f1a55b78f14c238d841ea1380cd77a1b5971af0ece108bd',
  },
];

describe('signing a request', () => {
  test.each(examples)('agrees with the published example: $title', (example) => {
    const scope = 'AKIAIOSFODNN7EXAMPLE/20130524/us-east-1/s3/aws4_request';
    expect(authorization(example.request, signer, date)).toBe(
      `AWS4-HMAC-SHA256 Credential=${scope},SignedHeaders=${example.signed},` +
        `Signature=${example.signature}`,
    );
  });

  test('writes a time to the second, in UTC', () => {
    expect(amzDate(Date.UTC(2026, 10, 20, 22, 54, 9, 987))).toBe('20261120T225409Z');
  });
});
