import type { Readable } from 'node:stream';
import { limits } from '../domain/limits.ts';
import type { ArtifactPlace } from '../domain/nouns.ts';
import { assert } from '../std/assert.ts';
import { giveBack } from '../std/give-back.ts';
import { ArtifactMissing, type ArtifactStore } from './artifacts.ts';

/** Neighbours in one object, read at once. */
interface Run {
  readonly place: ArtifactPlace;
  /** Positions of its places in the list. */
  readonly from: number;
  readonly to: number;
}

/**
 * Reads whole bodies one by one, in the order of a list; neighbours in one segment are read by one
 * request. A body is held while its run is: at most `togetherBytesMax`, or the body alone.
 */
export class TogetherReads {
  readonly #artifacts: Pick<ArtifactStore, 'read'>;
  readonly #places: readonly ArtifactPlace[];
  readonly #runs: readonly Run[];
  readonly #reading = new Map<Run, { readonly bytes: Promise<Buffer>; left: number }>();

  constructor(artifacts: Pick<ArtifactStore, 'read'>, places: readonly ArtifactPlace[]) {
    this.#artifacts = artifacts;
    this.#places = places;
    this.#runs = runsOf(places);
  }

  /**
   * The bytes of one place; each is asked for once. Rejects as `ArtifactStore.read` does: also
   * where a neighbour is missing, only what is missing itself.
   *
   * @param at its position in the list
   */
  async body(at: number): Promise<Buffer> {
    const run = this.#runs[at];
    const place = this.#places[at];
    assert(run && place, 'a body of the list is asked for');
    const reading = this.#reading.get(run) ?? this.#begin(run);
    reading.left -= 1;
    if (reading.left === 0) this.#reading.delete(run);
    try {
      const begin = place.offset - run.place.offset;
      return (await reading.bytes).subarray(begin, begin + place.length);
    } catch (error) {
      if (!(error instanceof ArtifactMissing) || run.to - run.from === 1) throw error;
      return await wholeOf(await this.#artifacts.read(place));
    }
  }

  #begin(run: Run) {
    const bytes = this.#artifacts.read(run.place).then(wholeOf);
    bytes.catch(() => {}); // Told to each who asks for a body of it.
    const reading = { bytes, left: run.to - run.from };
    this.#reading.set(run, reading);
    return reading;
  }
}

/** Chunks that are left to the collector pile up beside the bodies that they came to. */
async function wholeOf(stream: Readable): Promise<Buffer> {
  const chunks = (await stream.toArray()) as Buffer[];
  const whole = Buffer.concat(chunks);
  for (const chunk of chunks) giveBack(chunk);
  return whole;
}

/** @returns for each place the run that it is in */
function runsOf(places: readonly ArtifactPlace[]): Run[] {
  const runs: Run[] = [];
  for (let from = 0; from < places.length; ) {
    const { object, offset } = places[from]!;
    let to = from + 1;
    let end = offset + places[from]!.length;
    for (; to < places.length; to++) {
      const next = places[to]!;
      // What lies in between was not asked for; in a segment it is little.
      if (next.object !== object || next.offset < end) break;
      if (next.offset + next.length - offset > limits.togetherBytesMax) break;
      end = next.offset + next.length;
    }
    const run = { place: { object, offset, length: end - offset }, from, to };
    for (; from < to; from++) runs.push(run);
  }
  return runs;
}
