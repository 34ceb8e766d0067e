import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { describeError, EngineError } from './errors.ts';
import type { SessionPool } from './pool.ts';
import { type EngineRequest, notDone, readBody, readRequest } from './request.ts';
import { firstWord, laneOf, rawInsert } from './statement.ts';

export interface FrontOptions {
  readonly username: string;
  readonly password: string;
  /** Makes durable what a statement has changed, before its answer leaves. */
  synced(): Promise<void>;
}

/** An insert's body; the store sends far smaller ones (limits, `insertBytesMax`). */
const bodyBytesMax = 256 * 1024 * 1024;

/** Beyond these, new connections wait in the kernel's queue. */
const connectionsMax = 256;

/**
 * Serves the part of the ClickHouse HTTP interface that @clickhouse/client uses, over the native
 * sessions: `/ping`; statements with parameters, settings and database; inserts with their rows
 * as the body, in text formats; errors with `X-ClickHouse-Exception-Code`. A statement answers
 * when it is complete, so an answer of 200 never breaks off.
 *
 * Left out: sessions, compression, temporary tables, cancelling (`max_execution_time` bounds
 * every statement).
 */
export function createFront(pool: SessionPool, options: FrontOptions): Server {
  const expected = digest(`${options.username}:${options.password}`);
  const server = createServer({ maxHeaderSize: 256 * 1024, keepAliveTimeout: 15_000 });
  server.maxConnections = connectionsMax;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    if (request.url === '/ping') response.end('Ok.\n');
    else void answer(pool, options.synced, expected, request, response);
  });
  return server;
}

async function answer(
  pool: SessionPool,
  synced: FrontOptions['synced'],
  expected: Buffer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  try {
    judgeHead(request, expected);
    const body = await readBody(request, bodyBytesMax);
    const statement = readRequest(new URL(request.url ?? '/', 'http://engine'), body);
    const { bytes, rowsWritten } = await run(pool, statement, synced);
    response.writeHead(200, {
      'content-length': bytes.length,
      'content-type': 'text/plain; charset=UTF-8',
      'x-clickhouse-query-id': statement.queryId,
      'x-clickhouse-summary': JSON.stringify({ written_rows: String(rowsWritten) }),
    });
    response.end(bytes);
  } catch (error) {
    refuse(request, response, error);
  }
}

function judgeHead(request: IncomingMessage, expected: Buffer): void {
  const [scheme, credentials] = (request.headers.authorization ?? '').split(' ');
  const given = scheme === 'Basic' ? Buffer.from(credentials ?? '', 'base64').toString() : '';
  if (!timingSafeEqual(digest(given), expected)) {
    const message = 'Authentication failed: there is no such user, or the password is incorrect';
    throw new EngineError(516, 'AUTHENTICATION_FAILED', message);
  }
  if (request.headers['content-encoding'] !== undefined) throw notDone('compressed bodies');
  if (/^multipart\//i.test(request.headers['content-type'] ?? ''))
    throw notDone('multipart bodies');
}

async function run(
  pool: SessionPool,
  { sql, body, context }: EngineRequest,
  synced: FrontOptions['synced'],
): Promise<{ bytes: Uint8Array; rowsWritten: number }> {
  // Both would stay on the session and reach whoever leases it next.
  const word = firstWord(sql);
  if (word === 'SET' || word === 'USE') throw notDone(`${word} without a session`);

  const insert = rawInsert(sql);
  if (insert !== null && body !== null) {
    const rowsWritten = await pool.use('write', (session) => session.insert(insert, body, context));
    await synced();
    return { bytes: Buffer.alloc(0), rowsWritten };
  }
  if (body !== null && body.length > 0) throw notDone('a statement of this kind with a body');
  const lane = laneOf(sql);
  const bytes = await pool.use(lane, (session) => session.query(sql, context));
  if (lane !== 'read') await synced();
  return { bytes, rowsWritten: 0 };
}

function refuse(request: IncomingMessage, response: ServerResponse, error: unknown): void {
  const { status, code, text } = describeError(error);
  const headers: Record<string, string | number> = {
    'content-type': 'text/plain; charset=UTF-8',
    'x-clickhouse-exception-code': code,
  };
  if (status === 401) headers['www-authenticate'] = 'Basic realm="weir"';
  // What is left of a refused body is not read; the connection ends with the answer.
  if (!request.complete) headers.connection = 'close';
  if (response.destroyed) return;
  response.writeHead(status, headers);
  response.end(`${text}\n`);
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
