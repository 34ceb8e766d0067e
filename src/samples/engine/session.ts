import { Session } from 'chdb';
import { EngineError } from './errors.ts';
import { asksFor, literal, type RawInsert } from './statement.ts';

/** What a request brings along with its statement. Names are checked: letters, digits, `_`. */
export interface StatementContext {
  readonly database: string;
  readonly params: ReadonlyMap<string, string>;
  readonly settings: ReadonlyMap<string, string>;
}

/**
 * One native session, used by one request at a time.
 *
 * The native session keeps what is SET on it. So each use sets the request's database, settings
 * and parameters, runs the statement, and puts the settings back. Parameters cannot be unset:
 * those of earlier requests are remembered, and a statement that asks for one of them without
 * bringing it is refused rather than answered with another request's value.
 */
export class EngineSession {
  readonly #openNative: () => Session;
  readonly #seconds: string;
  #native: Session;
  #database = 'default';
  readonly #leftovers = new Set<string>();

  private constructor(openNative: () => Session, seconds: number) {
    this.#openNative = openNative;
    this.#seconds = String(seconds);
    this.#native = openNative();
  }

  /** @param seconds how long a statement may run when it does not say so itself */
  static async open(store: string, args: readonly string[], seconds: number) {
    const openNative = () => new Session(store, { connectionArgs: args });
    const session = new EngineSession(openNative, seconds);
    await session.#prepare();
    return session;
  }

  /** Runs a statement. The answer is in the format that it names, tab-separated otherwise. */
  async query(sql: string, context: StatementContext): Promise<Uint8Array> {
    for (const parameter of this.#leftovers) {
      if (!context.params.has(parameter) && asksFor(sql, parameter)) {
        throw new EngineError(456, 'UNKNOWN_QUERY_PARAMETER', `${parameter} is not set`);
      }
    }
    return await this.#within(context, async () => {
      const result = await this.#native.queryAsync(sql, { format: 'TabSeparated' });
      return result.bytes();
    });
  }

  /** Inserts the rows of a body, which must not change until this resolves. */
  async insert(into: RawInsert, body: Buffer, context: StatementContext): Promise<number> {
    return await this.#within(context, async () => {
      const summary = await this.#native.insert({
        table: into.table,
        ...(into.columns === undefined ? {} : { columns: into.columns }),
        values: body,
        format: into.format as 'TabSeparated',
      });
      return summary.rowsWritten;
    });
  }

  async #prepare(): Promise<void> {
    await this.#native.queryAsync(`SET max_execution_time = ${this.#seconds}`);
  }

  async #within<T>(context: StatementContext, work: () => Promise<T>): Promise<T> {
    if (context.database !== this.#database) {
      await this.#native.queryAsync(`USE \`${context.database}\``);
      this.#database = context.database;
    }
    const assignments = [...context.settings].map(([name, value]) => `${name}=${literal(value)}`);
    for (const [name, value] of context.params) {
      this.#leftovers.add(name);
      assignments.push(`param_${name}=${literal(value)}`);
    }
    try {
      if (assignments.length > 0) await this.#native.queryAsync(`SET ${assignments.join(', ')}`);
      return await work();
    } finally {
      for (const name of context.settings.keys()) await this.#putBack(name);
    }
  }

  async #putBack(setting: string): Promise<void> {
    const value = setting === 'max_execution_time' ? this.#seconds : 'DEFAULT';
    try {
      await this.#native.queryAsync(`SET ${setting} = ${value}`);
    } catch {
      // An unknown name, or something worse: whichever, the next request gets a fresh session.
      this.#native.close();
      this.#native = this.#openNative();
      this.#database = 'default';
      this.#leftovers.clear();
      await this.#prepare();
    }
  }
}
