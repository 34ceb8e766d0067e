import { hash } from 'node:crypto';

/** Slots at first; a power of two, as it is after each doubling. */
const slotsMin = 16;

/**
 * Numbers texts in the order in which they first come, from 0, by 96 bits of their SHA-256: for
 * millions of texts, which it does not keep. Two of five million are one by chance in fewer than
 * one of 10¹⁵ cases. Open addressing in one array, at most three quarters full.
 */
export class PrintIds {
  /** Four numbers a slot: the print and its number; the last is −1 in an empty one. */
  #slots = new Int32Array(4 * slotsMin).fill(-1);
  #mask = slotsMin - 1;
  #size = 0;

  /** The text's number. */
  idOf(text: string): number {
    const print = hash('sha256', text, 'binary');
    const a = wordAt(print, 0);
    const b = wordAt(print, 4);
    const c = wordAt(print, 8);
    const slots = this.#slots;
    let at = 4 * (a & this.#mask);
    for (; slots[at + 3]! >= 0; at = (at + 4) & (slots.length - 1)) {
      if (slots[at] === a && slots[at + 1] === b && slots[at + 2] === c) return slots[at + 3]!;
    }
    const id = this.#size++;
    slots[at] = a;
    slots[at + 1] = b;
    slots[at + 2] = c;
    slots[at + 3] = id;
    if (4 * this.#size > 3 * this.#mask) this.#grow();
    return id;
  }

  #grow(): void {
    const old = this.#slots;
    const slots = new Int32Array(2 * old.length).fill(-1);
    this.#mask = 2 * this.#mask + 1;
    for (let from = 0; from < old.length; from += 4) {
      if (old[from + 3]! < 0) continue;
      let at = 4 * (old[from]! & this.#mask);
      while (slots[at + 3]! >= 0) at = (at + 4) & (slots.length - 1);
      for (let i = 0; i < 4; i++) slots[at + i] = old[from + i]!;
    }
    this.#slots = slots;
  }
}

/** Four bytes of a latin1 text as one number. */
function wordAt(text: string, at: number): number {
  const [a, b] = [text.charCodeAt(at), text.charCodeAt(at + 1)];
  return a | (b << 8) | (text.charCodeAt(at + 2) << 16) | (text.charCodeAt(at + 3) << 24);
}
