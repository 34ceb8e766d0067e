import { constants, gzipSync, zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import type { ContentEncoding } from '../../src/domain/nouns.ts';
import { unpack } from '../../workers/unpack.ts';
import { parsed } from './some-delivery.ts';

const text = Buffer.from('day,shop,revenue\n'.repeat(5_000));
const mebibyte = 1024 * 1024;
const checksum = { params: { [constants.ZSTD_c_checksumFlag]: 1 } };
const { ZSTD_c_windowLog: windowLog, ZSTD_c_contentSizeFlag: sizeFlag } = constants;

async function unpacked(body: Buffer, encoding: ContentEncoding) {
  const pieces: Buffer[] = [];
  const problem = await unpack(body, encoding, async (piece) => {
    pieces.push(Buffer.from(piece));
    return null;
  });
  return problem?.code ?? Buffer.concat(pieces);
}

describe.each([
  ['gzip', gzipSync] as const,
  ['zstd', (bytes: Buffer) => zstdCompressSync(bytes, checksum)] as const,
])('%s', (encoding, pack) => {
  const packed = pack(text);

  test('of one part gives the body', async () => {
    expect(text.equals((await unpacked(packed, encoding)) as Buffer)).toBe(true);
    expect(await unpacked(pack(Buffer.alloc(0)), encoding)).toHaveLength(0);
  });

  test('of several parts gives them one after another', async () => {
    const body = Buffer.concat([packed, pack(Buffer.alloc(0)), pack(Buffer.from('end'))]);
    const expected = Buffer.concat([text, Buffer.from('end')]);
    expect(expected.equals((await unpacked(body, encoding)) as Buffer)).toBe(true);
  });

  test('that is cut off anywhere is refused', async () => {
    for (let length = 0; length < packed.length; length++) {
      expect(await unpacked(packed.subarray(0, length), encoding), `${length}`).toBe(
        'encoding_invalid',
      );
    }
  });

  test.each([
    ['text', Buffer.from('more')],
    ['noughts', Buffer.alloc(600)],
    ['one nought', Buffer.alloc(1)],
    ['the begin of another part', packed.subarray(0, 9)],
  ])('that goes on with %s is refused', async (_, rest) => {
    expect(await unpacked(Buffer.concat([packed, rest]), encoding)).toBe('encoding_invalid');
  });

  test('with a byte changed is refused', async () => {
    const changed = Buffer.from(packed);
    changed[packed.length - 6]! ^= 0x40;
    expect(await unpacked(changed, encoding)).toBe('encoding_invalid');
  });

  test('that is none is refused', async () => {
    expect(await unpacked(text, encoding)).toBe('encoding_invalid');
    expect(await unpacked(Buffer.alloc(0), encoding)).toBe('encoding_invalid');
  });

  test('that unpacks to over 1,000 times its size is refused, but not a small one', async () => {
    expect(await unpacked(pack(Buffer.alloc(mebibyte)), encoding)).toHaveLength(mebibyte);
    expect(await unpacked(pack(Buffer.alloc(40 * mebibyte)), encoding)).toBe('unpack_ratio');
  });

  test('that unpacks to more than 256 MiB is refused', async () => {
    const some = Buffer.alloc(mebibyte, 'some text that is repeated, yet not the same all over; ');
    for (let at = 0; at < some.length; at += 97) some[at] = at % 251;
    const part = pack(some);
    const whole = Buffer.concat(Array.from({ length: 257 }, () => part));
    const problem = await unpack(whole, encoding, async () => null);
    expect(problem).toEqual({ code: 'unpacked_too_large' });
  });
});

describe('zstd', () => {
  test('may have frames without content, with and without sizes in their heads', async () => {
    const skippable = Buffer.from([0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    const unsized = zstdCompressSync(text, { params: { [sizeFlag]: 0 } });
    const body = Buffer.concat([skippable, unsized, skippable, zstdCompressSync(text)]);
    expect(await unpacked(body, 'zstd')).toHaveLength(2 * text.length);
    expect(await unpacked(skippable, 'zstd')).toBe('encoding_invalid');
  });

  test('may ask for a window of 8 MiB, and not for more', async () => {
    const random = Buffer.alloc(20 * mebibyte);
    for (let at = 0; at < random.length; at += 4) random.writeUInt32LE((at * 2654435761) >>> 0, at);
    const packed = (log: number) =>
      zstdCompressSync(random, { params: { [windowLog]: log, [sizeFlag]: 0 } });
    expect(await unpacked(packed(23), 'zstd')).toHaveLength(random.length);
    expect(await unpacked(packed(24), 'zstd')).toBe('encoding_invalid');
  });

  test('of more than 1,024 frames is refused', async () => {
    const frame = zstdCompressSync(Buffer.from('x'));
    const frames = (count: number) => Buffer.concat(Array.from({ length: count }, () => frame));
    expect(await unpacked(frames(1_024), 'zstd')).toHaveLength(1_024);
    expect(await unpacked(frames(1_025), 'zstd')).toBe('too_many_frames');
  });
});

test.each([['gzip', gzipSync] as const, ['zstd', zstdCompressSync] as const])(
  'a document that came as %s gives the same as it does unpacked',
  async (encoding, pack) => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `2024-05-01,Köln ${i % 50},${i}.5\n`);
    const csv = `day,shop,revenue\n${rows.join('')}`;
    expect(await parsed(pack(Buffer.from(csv)), { encoding })).toEqual(await parsed(csv));
    const cut = pack(Buffer.from(csv)).subarray(0, -1);
    expect(await parsed(cut, { encoding })).toMatchObject({
      status: 'rejected',
      refusal: { code: 'encoding_invalid' },
      samples: [],
    });
  },
);

test('tiny zstd frames are given together', async () => {
  const frames = Array.from({ length: 1_000 }, (_, i) => zstdCompressSync(Buffer.from(`${i},`)));
  const pieces: number[] = [];
  const problem = await unpack(Buffer.concat(frames), 'zstd', async (piece) => {
    pieces.push(piece.length);
    return null;
  });
  expect([problem, pieces]).toEqual([null, [3_890]]);
});
