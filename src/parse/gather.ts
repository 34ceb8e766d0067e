/**
 * Gathers calls into groups: a group leaves at once when none is under way, otherwise when the
 * one before it returns. A failed group rejects its own calls only.
 */
export class Gather<T, R> {
  readonly #send: (group: T[]) => Promise<readonly R[]>;
  #waiting: { item: T; resolve: (answer: R) => void; reject: (error: unknown) => void }[] = [];
  #underWay = false;

  /** @param send answers each item of the group, in their order */
  constructor(send: (group: T[]) => Promise<readonly R[]>) {
    this.#send = send;
  }

  /** Resolves with its answer when the group that holds `item` was sent. */
  add(item: T): Promise<R> {
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
        const answers = await this.#send(group.map((one) => one.item));
        for (const [i, one] of group.entries()) one.resolve(answers[i]!);
      } catch (error) {
        for (const one of group) one.reject(error);
      }
    }
    this.#underWay = false;
  }
}
