/** An answer as it goes out, and its strong `ETag`. */
export interface EncodedAnswer {
  readonly body: Uint8Array;
  readonly etag: string;
}

interface Kept extends EncodedAnswer {
  readonly version: number;
}

/** What an answer takes beside its body, roughly: its name, its tag, its places in the maps. */
const bytesBeside = 1_024;

/**
 * Encoded answers of this process, so that a read of what has not changed asks nobody. Those that
 * were used longest ago give way; `bytesMax` bounds all of them.
 *
 * Exactness is the caller's: an answer is given again only under the version that was looked up
 * before it was made, and only to who has looked up the same version now (`SamplesState`).
 */
export class AnswerCache {
  readonly #bytesMax: number;
  /** From the one used longest ago. */
  readonly #kept = new Map<string, Kept>();
  /** As many as there are requests at most. */
  readonly #underWay = new Map<string, Promise<EncodedAnswer>>();
  #bytes = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /**
   * The answer of that name: as it was made under this version, else made now. Who asks for the
   * same while it is made shares it, and its failure.
   *
   * @param name everything that shapes the answer, but for the version
   * @param version null: it is not known; the answer is made for this call alone
   */
  async answer(
    name: string,
    version: number | null,
    make: () => Promise<EncodedAnswer>,
  ): Promise<EncodedAnswer> {
    if (version === null) return await make();
    const kept = this.#take(name, version);
    if (kept !== null) return kept;
    const flight = `${version} ${name}`;
    const underWay = this.#underWay.get(flight);
    if (underWay !== undefined) return await underWay;
    const made = this.#make(name, version, make).finally(() => this.#underWay.delete(flight));
    this.#underWay.set(flight, made);
    return await made;
  }

  async #make(
    name: string,
    version: number,
    make: () => Promise<EncodedAnswer>,
  ): Promise<EncodedAnswer> {
    const { body, etag } = await make();
    const made = { body: alone(body), etag };
    this.#keep(name, { ...made, version });
    return made;
  }

  #take(name: string, version: number): EncodedAnswer | null {
    const kept = this.#kept.get(name);
    if (kept === undefined) return null;
    if (kept.version !== version) {
      // Versions rise: a later one makes it worthless, an earlier one is of a request that is slow.
      if (kept.version < version) this.#drop(name, kept);
      return null;
    }
    this.#kept.delete(name);
    this.#kept.set(name, kept);
    return kept;
  }

  #keep(name: string, answer: Kept): void {
    const known = this.#kept.get(name);
    if (known !== undefined) {
      if (known.version >= answer.version) return;
      this.#drop(name, known);
    }
    const bytes = sizeOf(answer);
    if (bytes > this.#bytesMax) return;
    for (const [oldest, kept] of this.#kept) {
      if (this.#bytes + bytes <= this.#bytesMax) break;
      this.#drop(oldest, kept);
    }
    this.#kept.set(name, answer);
    this.#bytes += bytes;
  }

  #drop(name: string, kept: Kept): void {
    this.#kept.delete(name);
    this.#bytes -= sizeOf(kept);
  }
}

function sizeOf({ body }: EncodedAnswer): number {
  return body.byteLength + bytesBeside;
}

/** Bytes cut from a larger buffer would keep all of it. */
function alone(body: Uint8Array): Uint8Array {
  return body.byteLength === body.buffer.byteLength ? body : new Uint8Array(body);
}
