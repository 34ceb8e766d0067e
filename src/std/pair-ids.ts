import { secretSeed } from './secret-seed.ts';

/** Slots at first; a power of two, as it is after each doubling. */
const slotsMin = 16;

/**
 * Numbers pairs of 32-bit whole numbers, the first not negative, in the order in which they first
 * come, from 0. Open addressing in one array, at most three quarters full.
 */
export class PairIds {
  /** Three numbers a slot: the pair and its number; the first is −1 in an empty one. */
  #slots = new Int32Array(3 * slotsMin).fill(-1);
  #mask = slotsMin - 1;
  #size = 0;
  readonly #max: number;

  /** @param max how many are numbered */
  constructor(max = Number.POSITIVE_INFINITY) {
    this.#max = max;
  }

  get size(): number {
    return this.#size;
  }

  /** The pair's number; −1 when it is new and as many are numbered as may be. */
  idOf(first: number, second: number): number {
    const slots = this.#slots;
    const at = this.#place(first, second);
    if (slots[at]! >= 0) return slots[at + 2]!;
    if (this.#size >= this.#max) return -1;
    const id = this.#size++;
    slots.set([first, second, id], at);
    if (4 * this.#size > 3 * this.#mask) this.#grow();
    return id;
  }

  /** Where the pair is, or is to be put. */
  #place(first: number, second: number): number {
    const slots = this.#slots;
    let slot = hash(first, second) & this.#mask;
    while (slots[3 * slot]! >= 0) {
      if (slots[3 * slot] === first && slots[3 * slot + 1] === second) break;
      slot = (slot + 1) & this.#mask;
    }
    return 3 * slot;
  }

  #grow(): void {
    const old = this.#slots;
    this.#slots = new Int32Array(2 * old.length).fill(-1);
    this.#mask = 2 * this.#mask + 1;
    for (let at = 0; at < old.length; at += 3) {
      if (old[at]! >= 0) {
        this.#slots.set(old.subarray(at, at + 3), this.#place(old[at]!, old[at + 1]!));
      }
    }
  }
}

const firstFactor = secretSeed();
const secondFactor = secretSeed();

/** Spreads neighbours far apart: multiplied by odd numbers, high bits folded in. */
function hash(first: number, second: number): number {
  let h = Math.imul(first, firstFactor) ^ Math.imul(second, secondFactor);
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d);
  return h ^ (h >>> 13);
}
