/**
 * Gathers calls into groups: a group leaves at once when none is under way, otherwise when the
 * one before it returns. A failed group rejects its own calls only.
 */
export class Gather<T> {
  readonly #send: (group: T[]) => Promise<void>;
  #waiting: { item: T; resolve: () => void; reject: (error: unknown) => void }[] = [];
  #underWay = false;

  constructor(send: (group: T[]) => Promise<void>) {
    this.#send = send;
  }

  /** Resolves when the group that holds `item` was sent. */
  add(item: T): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      if (!this.#underWay) void this.#run();
    });
  }

  async #run(): Promise<void> {
    this.#underWay = true;
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0);
      try {
        await this.#send(group.map((one) => one.item));
        for (const one of group) one.resolve();
      } catch (error) {
        for (const one of group) one.reject(error);
      }
    }
    this.#underWay = false;
  }
}
