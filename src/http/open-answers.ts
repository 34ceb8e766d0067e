/** Counts the answers under way, so that a stop can wait for them. */
export class OpenAnswers {
  #count = 0;
  #waiting: (() => void)[] = [];
  #closing = false;

  /** Each answer is the last of its connection from now on. */
  get closing(): boolean {
    return this.#closing;
  }

  enter(): void {
    this.#count += 1;
  }

  leave(): void {
    this.#count -= 1;
    if (this.#count === 0) for (const tell of this.#waiting.splice(0)) tell();
  }

  /** Resolves when none is under way, or after `graceMs`; begins the closing. */
  settled(graceMs: number): Promise<void> {
    this.#closing = true;
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, graceMs);
      this.#waiting.push(() => {
        clearTimeout(timer);
        resolve();
      });
    });
  }
}
