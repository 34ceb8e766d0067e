import http from 'node:http';

export interface Question {
  readonly method?: string;
  /** An array sends the header once for each value. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: Uint8Array | string;
  /** Sends the body in chunks, without a length. */
  readonly chunked?: boolean;
}

/** A whole answer, its body as it came. */
export interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: Buffer;
  readonly text: string;
}

// The service closes a connection that was idle for ten seconds; ours are given up before.
const agent = new http.Agent({ keepAlive: true, maxSockets: 256, timeout: 4_000 });

/**
 * Sends one request and reads its whole answer. Unlike `fetch` it adds no header, undoes no
 * encoding, and tells what came also when the body could not be sent to its end.
 */
export function ask(url: string, question: Question = {}): Promise<Answer> {
  const { method = 'GET', headers = {}, body, chunked = false } = question;
  const bytes = body === undefined ? undefined : Buffer.from(body as Uint8Array);
  const framing = bytes === undefined || chunked ? {} : { 'Content-Length': bytes.length };
  return new Promise((resolve, reject) => {
    const request = http.request(url, {
      method,
      agent,
      headers: { ...framing, ...headers } as http.OutgoingHttpHeaders,
    });
    request.on('error', reject);
    request.on('response', (response) => {
      const parts: Buffer[] = [];
      response.on('data', (part: Buffer) => parts.push(part));
      response.on('error', reject);
      response.on('end', () => {
        const whole = Buffer.concat(parts);
        const { statusCode = 0 } = response;
        resolve({
          status: statusCode,
          headers: response.headers,
          body: whole,
          text: whole.toString(),
        });
      });
    });
    request.end(bytes);
  });
}

/** @returns an answer's body as JSON, taken to be a `T` */
export function jsonOf<T>(answer: Answer): T {
  return JSON.parse(answer.text) as T;
}
