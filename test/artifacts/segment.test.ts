import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ArtifactMissing } from '../../src/artifacts/artifacts.ts';
import { segmentName } from '../../src/artifacts/object-name.ts';
import { encodeSegment, readContents } from '../../src/artifacts/segment.ts';
import { failure, newObject } from './bodies.ts';
import { wholeBodies } from './segments.ts';

const object = segmentName(newObject());
const footerBytes = 56;

function contentsOf(bytes: Buffer) {
  return readContents(object, async (wanted) => ({
    bytes: bytes.subarray(Math.max(0, bytes.length - wanted)),
    size: bytes.length,
  }));
}

/** A segment that its writer meant to be wrong: the hash of its index holds. */
function forged(lines: readonly object[], of: { bodies: Buffer; count?: number; length?: number }) {
  const index = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
  const footer = Buffer.alloc(footerBytes);
  const { bodies, count = lines.length, length = bodies.length } = of;
  for (const [i, number] of [1, count, length, index.length].entries()) {
    footer.writeUInt32BE(number, 32 + 4 * i);
  }
  footer.write('weir-seg', 48);
  const hash = createHash('sha256').update(index).update(footer.subarray(32)).digest();
  hash.copy(footer);
  return Buffer.concat([bodies, index, footer]);
}

const whole = wholeBodies(2, 100);
const bodies = Buffer.concat(whole.map(({ body }) => body));
const [first, second] = whole.map(({ meta, sha256 }, i) => ({
  ...{ ...meta, offset: 100 * i, length: 100, sha256: sha256.toString('hex') },
}));

test('the bodies lie in it as they came, one after another from its first byte', () => {
  const { bytes, places } = encodeSegment(object, whole);
  expect(bytes.subarray(0, 200).equals(bodies)).toBe(true);
  expect(places).toEqual([
    { object, offset: 0, length: 100 },
    { object, offset: 100, length: 100 },
  ]);
});

test('version 1 is what it is: old segments are read for ever', () => {
  expect(encodeSegment(object, whole).bytes.equals(forged([first!, second!], { bodies }))).toBe(
    true,
  );
});

test('no bit of index or footer can be another without being noticed', async () => {
  const { bytes } = encodeSegment(object, whole);
  const sound = await contentsOf(bytes);
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
      const changed = Buffer.from(bytes);
      changed[at]! ^= 1 << bit;
      // A body that is changed has another hash than its index says.
      if (at < bodies.length) expect(await contentsOf(changed)).toEqual(sound);
      else expect(await failure(contentsOf(changed))).toBeInstanceOf(ArtifactMissing);
    }),
    { numRuns: 500 },
  );
});

test('no end of it stands for the whole', async () => {
  const { bytes } = encodeSegment(object, whole);
  for (let cut = 1; cut < bytes.length; cut++) {
    for (const part of [bytes.subarray(cut), bytes.subarray(0, -cut)]) {
      expect(await failure(contentsOf(part))).toBeInstanceOf(ArtifactMissing);
    }
  }
});

describe('an index whose hash holds is not believed where', () => {
  test.each<[string, Buffer, RegExp]>([
    ['ranges overlap', forged([first!, { ...second, offset: 50 }], { bodies }), /does not begin/],
    ['ranges leave a gap', forged([first!, { ...second, offset: 101 }], { bodies }), /begin/],
    ['a range begins before 0', forged([{ ...first, offset: -1 }, second!], { bodies }), /begin/],
    ['a length is negative', forged([{ ...first, length: -5 }, second!], { bodies }), /incomplete/],
    ['a length is too long', forged([first!, { ...second, length: 101 }], { bodies }), /elsewhere/],
    [
      'a length is no number',
      forged([first!, { ...second, length: '100' }], { bodies }),
      /incompl/,
    ],
    ['bodies are missing', forged([first!], { bodies }), /elsewhere/],
    ['it counts others', forged([first!, second!], { bodies, count: 3 }), /another number/],
    [
      'it is of other lengths',
      forged([first!, second!], { bodies, length: 150 }),
      /lengths differ/,
    ],
    [
      'a delivery is there twice',
      forged([first!, { ...second, artifactId: first!.artifactId }], { bodies }),
      /twice/,
    ],
    ['an id is no uuid', forged([{ ...first, artifactId: '../x' }, second!], { bodies }), /incom/],
    ['a hash is none', forged([{ ...first, sha256: 'ab' }, second!], { bodies }), /incomplete/],
    ['metadata are missing', forged([{ offset: 0, length: 200 }], { bodies }), /incomplete/],
  ])('%s', async (_, bytes, why) => {
    const error = await failure(contentsOf(bytes));
    expect(error).toBeInstanceOf(ArtifactMissing);
    expect(error.message).toMatch(why);
  });

  test('its version is a later one', async () => {
    const { bytes } = encodeSegment(object, whole);
    bytes.writeUInt32BE(2, bytes.length - footerBytes + 32);
    await expect(contentsOf(bytes)).rejects.toThrow('version 2 is not known');
  });
});
