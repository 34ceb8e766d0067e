import { pipeline, type Readable, Transform } from 'node:stream';
import { ArtifactMissing } from './artifacts.ts';

/**
 * Passes on a range of exactly `length` bytes.
 *
 * A source that ends early fails with `ArtifactMissing`; its other errors arrive as `mapError`
 * makes them. Destroying the result destroys the source.
 */
export function exactLength(
  source: Readable,
  length: number,
  mapError: (error: Error) => Error,
): Readable {
  let left = length;
  const checked = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      left -= chunk.length;
      if (left < 0) done(new ArtifactMissing('the store sent more bytes than the range holds'));
      else done(null, chunk);
    },
    flush(done) {
      done(left === 0 ? null : new ArtifactMissing(`the range is ${left} bytes short`));
    },
    destroy(error, done) {
      done(error && mapError(error));
    },
  });
  // Its errors are those of `checked`, where the reader sees them.
  pipeline(source, checked, () => {});
  return checked;
}
