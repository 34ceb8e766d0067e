import net from 'node:net';
import type { Address } from './messages.ts';

export interface HttpAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: Buffer;
}

const headEnd = Buffer.from('\r\n\r\n');

/**
 * A raw keep-alive connection that carries one request after another: the same few lines of client
 * for every server of the bench, so that none of them is measured with a slower one.
 */
export class HttpConnection {
  readonly #socket: net.Socket;
  #closed = false;
  #waiting: PromiseWithResolvers<HttpAnswer> | null = null;
  #chunks: Buffer[] = [];
  #bytes = 0;
  /** Of the answer that is coming, once its head is whole. */
  #head: { text: string; bytes: number; length: number } | null = null;

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => this.#take(bytes));
    socket.on('error', (error) => this.#fail(error));
    socket.on('close', () => this.#fail(new Error('the server closed the connection')));
  }

  static async open(address: Address): Promise<HttpConnection> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const socket = net.connect(
      'socketPath' in address ? { path: address.socketPath } : { ...address, host: '127.0.0.1' },
    );
    socket.once('connect', resolve);
    socket.once('error', reject);
    await promise;
    socket.off('error', reject);
    return new HttpConnection(socket);
  }

  /** Servers close what was idle for some seconds. */
  get closed(): boolean {
    return this.#closed;
  }

  /** Sends one request and waits for its whole answer. */
  exchange(parts: readonly (string | Uint8Array)[]): Promise<HttpAnswer> {
    this.#waiting = Promise.withResolvers<HttpAnswer>();
    const { promise } = this.#waiting;
    for (const part of parts) this.#socket.write(part);
    return promise;
  }

  close(): void {
    this.#fail(new Error('closed'));
  }

  #take(bytes: Buffer): void {
    this.#chunks.push(bytes);
    this.#bytes += bytes.length;
    if (this.#head === null && !this.#readHead()) return;
    const { text, bytes: headBytes, length } = this.#head!;
    if (this.#bytes < headBytes + length) return;
    const whole = Buffer.concat(this.#chunks);
    this.#chunks = [];
    this.#bytes = 0;
    this.#head = null;
    const body = whole.subarray(headBytes, headBytes + length);
    const waiting = this.#waiting;
    this.#waiting = null;
    waiting?.resolve({ status: Number(text.slice(9, 12)), head: text, body });
  }

  #readHead(): boolean {
    if (this.#chunks.length > 1) this.#chunks = [Buffer.concat(this.#chunks)];
    const [bytes] = this.#chunks;
    const end = bytes!.indexOf(headEnd);
    if (end < 0) return false;
    const text = bytes!.toString('latin1', 0, end);
    const length = /^content-length: *([0-9]+)/im.exec(text)?.[1];
    const status = text.slice(9, 12);
    if (length === undefined && status !== '204' && status !== '304') {
      this.#fail(new Error(`an answer of unknown length: ${bytes!.toString('utf8', 0, 4_096)}`));
      return false;
    }
    this.#head = { text, bytes: end + headEnd.length, length: Number(length ?? 0) };
    return true;
  }

  #fail(error: Error): void {
    this.#closed = true;
    this.#socket.destroy();
    this.#waiting?.reject(error);
    this.#waiting = null;
  }
}
