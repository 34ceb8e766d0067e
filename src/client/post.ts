import http from 'node:http';
import https from 'node:https';
import type { Body } from './body.ts';

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly text: string;
}

/** No whole answer came: refused, dropped, silent. Whether the delivery was stored is unknown. */
export class NoAnswer extends Error {
  override readonly name = 'NoAnswer';
}

export interface PostOptions {
  /** Without a byte in either direction the attempt is given up. */
  readonly silenceMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Told how much of the body is on its way. */
  readonly sent?: (bytes: number) => void;
}

/** An answer of the service is far below; the rest of a longer one is not kept. */
const answerBytesMax = 64 * 1024;

/**
 * Connections are kept for the next file, but not for long: a service that closes an idle one just
 * when it is used again would cost the delivery its first wait.
 */
const kept = { keepAlive: true, timeout: 2_000 } as const;
const plain = new http.Agent(kept);
const secure = new https.Agent(kept);

/**
 * Sends one request and reads its answer, which may come before the body is sent to its end
 * (401, 413): then the rest is not sent. Redirects are not followed.
 *
 * @throws NoAnswer, the body's own error, or the signal's reason
 */
export async function post(
  url: URL,
  headers: Readonly<Record<string, string>>,
  body: Body,
  options: PostOptions,
): Promise<Answer> {
  options.signal?.throwIfAborted();
  const { request: begin } = url.protocol === 'https:' ? https : http;
  const request = begin(url, {
    method: 'POST',
    agent: url.protocol === 'https:' ? secure : plain,
    headers: { ...headers, 'Content-Length': String(body.bytes) },
    timeout: options.silenceMs,
    signal: options.signal,
  });
  request.on('timeout', () => {
    request.destroy(new Error(`nothing came for ${options.silenceMs / 1_000} seconds`));
  });
  const answered = answerOf(request);
  let bodyFailure: unknown;
  const writing = write(request, body, options.sent).catch((error: unknown) => {
    bodyFailure = error;
    request.destroy();
  });
  try {
    return await answered;
  } catch (error) {
    options.signal?.throwIfAborted();
    if (bodyFailure) throw bodyFailure;
    throw new NoAnswer((error as Error).message, { cause: error });
  } finally {
    // Also lets `writing` end: nothing is left to be sent once an answer, or none, has come.
    if (!request.writableFinished) request.destroy();
    await writing;
  }
}

async function write(
  request: http.ClientRequest,
  body: Body,
  sent: PostOptions['sent'],
): Promise<void> {
  let stopped = false;
  let goOn = () => {};
  for (const event of ['drain', 'response', 'close'] as const) {
    request.on(event, () => {
      stopped ||= event !== 'drain';
      goOn();
    });
  }
  let bytes = 0;
  for await (const part of body.parts()) {
    await afterReading();
    if (stopped) return;
    const drained = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    if (!request.write(part)) await drained;
    bytes += part.length;
    sent?.(bytes);
  }
  if (!stopped) request.end();
}

/**
 * Waits until the event loop has looked at its sockets. An answer that came before the service
 * closed would be lost in the error (EPIPE) of a write that follows it: of 900 answers with a reset
 * behind them 888 were seen so, and 28 without the wait.
 */
function afterReading(): Promise<void> {
  return new Promise((resolve) => setImmediate(() => setImmediate(resolve)));
}

function answerOf(request: http.ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    // After an error this changes nothing; destroyed without one there is no other end.
    request.on('close', () => reject(new Error('the connection was closed')));
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      let bytes = 0;
      response.on('data', (part: Buffer) => {
        if (bytes < answerBytesMax) parts.push(part);
        bytes += part.length;
      });
      response.on('error', reject);
      response.on('end', () => {
        const text = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode!, headers: response.headers, text });
      });
    });
  });
}
