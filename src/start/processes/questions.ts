interface Open<A> {
  readonly overdue: NodeJS.Timeout;
  resolve(answer: A): void;
  reject(error: Error): void;
}

/** Questions over a channel, which brings the answers back by number, or never. */
export class Questions<A> {
  readonly #waitMs: number;
  readonly #open = new Map<number, Open<A>>();
  #last = 0;

  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  /**
   * @param send sends the question under this number
   * @throws Error when no answer came in time, or none can come
   */
  ask(send: (id: number) => void): Promise<A> {
    this.#last += 1;
    const id = this.#last;
    return new Promise<A>((resolve, reject) => {
      const late = () => this.#close(id)?.reject(new Error(`no answer within ${this.#waitMs} ms`));
      this.#open.set(id, { overdue: setTimeout(late, this.#waitMs), resolve, reject });
      send(id);
    });
  }

  /** One that comes too late is for nobody. */
  answered(id: number, answer: A): void {
    this.#close(id)?.resolve(answer);
  }

  /** The other side has ended. */
  fail(reason: string): void {
    for (const id of this.#open.keys()) this.#close(id)?.reject(new Error(reason));
  }

  #close(id: number): Open<A> | undefined {
    const open = this.#open.get(id);
    clearTimeout(open?.overdue);
    this.#open.delete(id);
    return open;
  }
}
