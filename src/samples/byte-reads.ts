import http from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import { parseError } from '@clickhouse/client';
import type { ClickHouseAddress } from './address.ts';
import { layoutOf, type Settings } from './layout.ts';

export interface ByteReadLimits {
  readonly connectionsMax: number;
  /** From the request to the last byte of its answer. */
  readonly requestMs: number;
}

export interface Statement {
  readonly query: string;
  /** Plain values: ClickHouse would undo backslash escapes in them. */
  readonly query_params: Readonly<Record<string, string | number | boolean>>;
}

/** A server that drops idle connections does so after 3 s or later (ClickHouse's own default). */
const idleMs = 2_500;

/**
 * Reads the answers of statements as bytes, for the one read that must be fast: @clickhouse/client
 * waits for a timer before each request, which costs a window read 2 of 17 ms.
 *
 * Failure: a connection that was used before and breaks before anything was answered is replaced
 * once, by a new one: a read may be repeated, and what else was idle is as old. Whatever else
 * breaks rejects.
 */
export class ByteReads {
  readonly #limits: ByteReadLimits;
  readonly #agent: http.Agent;
  readonly #send: typeof http.request;
  readonly #server: http.RequestOptions;
  readonly #database: string;
  readonly #settings: Settings;
  readonly #underWay = new Set<http.ClientRequest>();

  constructor(address: ClickHouseAddress, limits: ByteReadLimits) {
    const { url, socketPath, username, password, database } = address;
    const { protocol, hostname, port } = urlToHttpOptions(new URL(url));
    const { Agent, request } = protocol === 'https:' ? https : http;
    this.#limits = limits;
    this.#database = database;
    this.#settings = layoutOf(address).settings;
    this.#send = request;
    const options = { keepAlive: true, maxSockets: limits.connectionsMax, timeout: idleMs };
    this.#agent = new Agent(options);
    this.#server = {
      ...(socketPath === undefined ? { hostname, port } : { socketPath }),
      ...{ agent: this.#agent, method: 'POST', auth: `${username}:${password}` },
      // Its log of queries tells who asked.
      headers: { 'User-Agent': 'weir' },
    };
  }

  /**
   * The whole answer, in the chunks that it came in; nobody else has them.
   *
   * @throws ClickHouseError when the server refused the statement, Error when it was not reached
   */
  async read(statement: Statement): Promise<Buffer[]> {
    const until = performance.now() + this.#limits.requestMs;
    try {
      return await this.#ask(statement, until);
    } catch (error) {
      if (!(error instanceof StaleConnection)) throw error;
      this.#dropIdle();
      return await this.#ask(statement, until);
    }
  }

  /** What is under way rejects. */
  close(): void {
    for (const request of this.#underWay) request.destroy(new Error('the reads are closed'));
    this.#agent.destroy();
  }

  #ask({ query, query_params }: Statement, until: number): Promise<Buffer[]> {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer[]>();
    const request = this.#send({ ...this.#server, path: this.#path(query_params) });
    this.#underWay.add(request);
    const { requestMs } = this.#limits;
    const late = () => request.destroy(new Error(`no whole answer within ${requestMs} ms`));
    const timer = setTimeout(late, until - performance.now());
    let answered = false;
    request.on('response', (response) => {
      answered = true;
      wholeOf(response, resolve, reject);
    });
    request.on('close', () => {
      clearTimeout(timer);
      this.#underWay.delete(request);
    });
    request.on('error', (error: NodeJS.ErrnoException) => {
      const broke = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      const stale = broke && request.reusedSocket && !answered;
      reject(stale ? new StaleConnection(error.message, { cause: error }) : error);
    });
    request.end(query);
    return promise;
  }

  #path(params: Statement['query_params']): string {
    // A server then answers an error as an error, not in the middle of the rows.
    const query = new URLSearchParams({ database: this.#database, wait_end_of_query: '1' });
    for (const [name, value] of Object.entries(this.#settings)) query.set(name, String(value));
    for (const [name, value] of Object.entries(params)) query.set(`param_${name}`, String(value));
    return `/?${query}`;
  }

  #dropIdle(): void {
    for (const idle of Object.values(this.#agent.freeSockets)) {
      for (const socket of [...(idle ?? [])]) socket.destroy();
    }
  }
}

function wholeOf(
  response: http.IncomingMessage,
  resolve: (chunks: Buffer[]) => void,
  reject: (error: Error) => void,
): void {
  const { statusCode, headers } = response;
  const chunks: Buffer[] = [];
  response.on('data', (chunk: Buffer) => chunks.push(chunk));
  response.on('error', reject);
  response.on('end', () => {
    if (statusCode === 200 && !('x-clickhouse-exception-code' in headers)) return resolve(chunks);
    const text = Buffer.concat(chunks).toString();
    reject(parseError(text || `an answer of status ${statusCode} without a text`) as Error);
  });
}

/** The server had closed the connection before it saw the request. */
class StaleConnection extends Error {
  override readonly name = 'StaleConnection';
}
