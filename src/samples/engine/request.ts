import type { IncomingMessage } from 'node:http';
import { EngineError } from './errors.ts';
import type { StatementContext } from './session.ts';

/** A request in the part of the ClickHouse HTTP interface that @clickhouse/client uses. */
export interface EngineRequest {
  readonly sql: string;
  /** What follows the statement: the rows of an INSERT. Null when the body was the statement. */
  readonly body: Buffer | null;
  readonly queryId: string;
  readonly context: StatementContext;
}

/** Said by the client about the connection, not about the statement: nothing to do for them. */
const ofTheConnection = new Set([
  'query_id',
  'default_format',
  'enable_http_compression',
  'wait_end_of_query',
  'buffer_size',
  'role',
]);

/** Reads address and body of a request. @throws EngineError for what this front does not do */
export function readRequest(url: URL, body: Buffer): EngineRequest {
  const params = new Map<string, string>();
  const settings = new Map<string, string>();
  let database = 'default';
  let sql: string | null = null;
  for (const [name, value] of url.searchParams) {
    if (name === 'query') sql = value;
    else if (name === 'database') database = plainName(value);
    else if (name.startsWith('param_')) params.set(plainName(name.slice(6)), value);
    else if (name === 'session_id') throw notDone('sessions over HTTP');
    else if (!ofTheConnection.has(name)) settings.set(plainName(name), value);
  }
  return {
    sql: sql ?? body.toString('utf8'),
    body: sql === null ? null : body,
    queryId: url.searchParams.get('query_id') ?? '',
    context: { database, params, settings },
  };
}

export function notDone(what: string): EngineError {
  return new EngineError(48, 'NOT_IMPLEMENTED', `The embedded engine does not do ${what}`);
}

function plainName(name: string): string {
  if (/^\w+$/.test(name)) return name;
  throw new EngineError(36, 'BAD_ARGUMENTS', 'A name has letters, digits and underscores only');
}

/**
 * Gathers a body as bytes, so that no character is broken between two chunks.
 *
 * @throws EngineError 241 when it is larger than `bytesMax`
 */
export async function readBody(request: IncomingMessage, bytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) {
      throw new EngineError(241, 'MEMORY_LIMIT_EXCEEDED', `A body has ${bytesMax} bytes at most`);
    }
    chunks.push(chunk);
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, bytes);
}
