import type { Database } from 'better-sqlite3';

const answersMax = 10_000;

/**
 * Keeps answers until anybody commits: `data_version` of a connection that only reads changes with
 * every commit of any other one, in any process. Asking for it costs a tenth of a row of joins,
 * and one commit gives many receipts, so that most questions find their answer.
 */
export class SinceCommit {
  readonly #version: () => unknown;
  readonly #answers = new Map<string, unknown>();
  #of: unknown;

  /** @param connection reads only, outside of transactions */
  constructor(connection: Database) {
    const statement = connection.prepare('pragma data_version').pluck();
    this.#version = () => statement.get();
  }

  /** The answer to a question; `ask` is called where it may have changed. */
  async answer<A>(question: string, ask: () => Promise<A>): Promise<A> {
    const version = this.#version();
    if (version !== this.#of || this.#answers.size >= answersMax) this.#answers.clear();
    this.#of = version;
    const known = this.#answers.get(question);
    if (known !== undefined) return known as A;
    const answer = await ask();
    // Only what was read before anybody committed may stand for the version asked for.
    if (this.#version() === version && this.#of === version) this.#answers.set(question, answer);
    return answer;
  }
}
