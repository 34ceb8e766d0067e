/**
 * What happened in a run, line by line: as a number that two equal runs share, and as text where
 * somebody wants to read it.
 */
export class Trace {
  readonly lines: string[] | null;
  #a = 0x811c9dc5;
  #b = 0x01000193;

  constructor(keep: boolean) {
    this.lines = keep ? [] : null;
  }

  add(now: number, line: string): void {
    const at = now | 0;
    this.#mix(at);
    for (let i = 0; i < line.length; i++) this.#mix(line.charCodeAt(i));
    this.lines?.push(`${String(at).padStart(7)} ms  ${line}`);
  }

  /** Two FNV-1a sums of 32 bits, the second one of the bytes turned. */
  get hash(): string {
    const hex = (n: number) => (n >>> 0).toString(16).padStart(8, '0');
    return hex(this.#a) + hex(this.#b);
  }

  #mix(code: number): void {
    this.#a = Math.imul(this.#a ^ code, 0x01000193);
    this.#b = Math.imul(this.#b ^ (code * 31 + 7), 0x01000193);
  }
}
