/** Slots at first; a power of two, as it is after each doubling. */
const slotsMin = 1024;

/**
 * A set of pairs of 32-bit whole numbers, the first not negative.
 *
 * Several times as fast as a `Set` of numbers beyond 31 bits, which boxes each of them. Open
 * addressing in one array, at most half full.
 */
export class PairSet {
  /** Two numbers a slot; the first is −1 in an empty one. */
  #slots = new Int32Array(2 * slotsMin).fill(-1);
  #mask = slotsMin - 1;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** @returns false when the pair was there */
  add(first: number, second: number): boolean {
    const slots = this.#slots;
    let slot = hash(first, second) & this.#mask;
    while (slots[2 * slot]! >= 0) {
      if (slots[2 * slot] === first && slots[2 * slot + 1] === second) return false;
      slot = (slot + 1) & this.#mask;
    }
    slots[2 * slot] = first;
    slots[2 * slot + 1] = second;
    this.#size++;
    if (2 * this.#size > this.#mask) this.#grow();
    return true;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(2 * old.length).fill(-1);
    this.#mask = old.length - 1;
    this.#size = 0;
    for (let i = 0; i < old.length; i += 2) {
      if (old[i]! >= 0) this.add(old[i]!, old[i + 1]!);
    }
  }
}

/** Spreads neighbours far apart: multiplied by odd constants, high bits folded in. */
function hash(first: number, second: number): number {
  let h = Math.imul(first, 0x9e3779b1) ^ Math.imul(second, 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return h ^ (h >>> 13);
}
