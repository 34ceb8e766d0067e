/** An HTTP answer, whole. */
export interface Response {
  readonly status: number;
  /** Names in lowercase. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Buffer;
  /** Whether the connection may carry another request. */
  readonly keepAlive: boolean;
}

/** Answers to a PUT are short; a longer one is not an answer to it. */
export const responseBytesMax = 128 * 1024;

const statusLine = /^HTTP\/1\.([01]) (\d{3})(?: [^\r\n]*)?$/;
const headerLine = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[ \t]*([^\r\n\0]*?)[ \t]*$/;

/**
 * Reads one answer to a PUT from the bytes received so far (RFC 9112): null when it is not whole
 * yet, else the answer and how many bytes it took. Interim (1xx) answers are passed over.
 *
 * @throws Error on anything that leaves open where the answer ends
 */
export function parseResponse(bytes: Buffer): { response: Response; used: number } | null {
  if (bytes.length > responseBytesMax) throw new Error('the answer is too long');
  for (let start = 0; ; ) {
    const end = bytes.indexOf('\r\n\r\n', start);
    if (end < 0) return null;
    const head = parseHead(bytes.toString('latin1', start, end));
    if (head.status >= 200) return withBody(head, bytes, end + 4);
    start = end + 4;
  }
}

interface Head {
  readonly minor: string;
  readonly status: number;
  readonly headers: Map<string, string>;
}

function parseHead(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n');
  const match = statusLine.exec(first);
  if (!match) throw new Error('the answer is not HTTP/1.1');
  const headers = new Map<string, string>();
  for (const line of lines) {
    const [, name, value] = headerLine.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new Error('a header is malformed');
    const key = name.toLowerCase();
    const before = headers.get(key);
    headers.set(key, before === undefined ? value : `${before}, ${value}`);
  }
  return { minor: match[1]!, status: Number(match[2]), headers };
}

function withBody(head: Head, bytes: Buffer, start: number) {
  const { status, headers } = head;
  const found = bodyOf(head, bytes, start);
  if (!found) return null;
  const closing = (headers.get('connection') ?? '').toLowerCase().split(/\s*,\s*/);
  const keepAlive = head.minor === '1' && !closing.includes('close');
  return { response: { status, headers, body: found.body, keepAlive }, used: found.end };
}

function bodyOf({ status, headers }: Head, bytes: Buffer, start: number) {
  if (status === 204 || status === 304) return { body: Buffer.alloc(0), end: start };
  const coding = headers.get('transfer-encoding');
  const length = headers.get('content-length');
  if (coding !== undefined && length !== undefined) throw new Error('two lengths in one answer');
  if (coding !== undefined) {
    if (coding.toLowerCase() !== 'chunked') throw new Error('an unknown transfer coding');
    return chunkedBody(bytes, start);
  }
  if (length === undefined) throw new Error(`an answer ${status} without a length`);
  if (!/^\d{1,9}$/.test(length)) throw new Error('a malformed length');
  const end = start + Number(length);
  return end > bytes.length ? null : { body: bytes.subarray(start, end), end };
}

function chunkedBody(bytes: Buffer, start: number) {
  const chunks: Buffer[] = [];
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return null;
    const size = /^([0-9a-f]{1,8})(?:[ \t]*;.*)?$/i.exec(bytes.toString('latin1', at, line))?.[1];
    if (size === undefined) throw new Error('a malformed chunk');
    const from = line + 2;
    const to = from + Number.parseInt(size, 16);
    if (to === from) return afterTrailers(bytes, from, chunks);
    if (to + 2 > bytes.length) return null;
    if (bytes[to] !== 13 || bytes[to + 1] !== 10) throw new Error('a malformed chunk');
    chunks.push(bytes.subarray(from, to));
    at = to + 2;
  }
}

/** Trailer fields are passed over up to the empty line. */
function afterTrailers(bytes: Buffer, start: number, chunks: Buffer[]) {
  for (let at = start; ; ) {
    const line = bytes.indexOf('\r\n', at);
    if (line < 0) return null;
    if (line === at) return { body: Buffer.concat(chunks), end: line + 2 };
    at = line + 2;
  }
}
