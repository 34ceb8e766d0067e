import type { Database, Statement } from 'better-sqlite3';

/** Statements kept for reuse; preparing one costs more than running most of them. */
const statementsMax = 200;

/** Prepares each text once, and forgets the longest unused. */
export class StatementCache {
  readonly #connection: Database;
  readonly #kept = new Map<string, Statement<unknown[]>>();

  constructor(connection: Database) {
    this.#connection = connection;
  }

  prepare(text: string): Statement<unknown[]> {
    const statement = this.#kept.get(text) ?? this.#connection.prepare<unknown[]>(text);
    this.#kept.delete(text);
    this.#kept.set(text, statement);
    if (this.#kept.size > statementsMax) {
      const [oldest] = this.#kept.keys();
      this.#kept.delete(oldest!);
    }
    return statement;
  }
}
