import net from 'node:net';
import tls from 'node:tls';
import type { S3Address } from './address.ts';
import { parseResponse, type Response } from './response.ts';

export interface ConnectionLimits {
  /** Until the connection stands, for TLS with its handshake. */
  readonly connectMs: number;
  /** A write of which the store takes nothing for so long has failed. */
  readonly stallMs: number;
  /** Unused for so long it is dropped; the store closes its side after 30 s. */
  readonly idleMs: number;
}

/**
 * A connection to the store that carries one request after another.
 *
 * States: idle → `begin` → in exchange → the answer is whole → idle, or closed when the store
 * wants it so. Bytes that come while idle, a malformed answer, the store's end, an error, a stalled
 * write or `destroy` close it from any state; the exchange then rejects with the reason.
 */
export class Connection {
  readonly #socket: net.Socket;
  readonly #limits: ConnectionLimits;
  #exchange: PromiseWithResolvers<Response> | null = null;
  #received = Buffer.alloc(0);
  #writing = 0;
  #idleSince: number;
  #reason: Error | null = null;

  private constructor(socket: net.Socket, limits: ConnectionLimits) {
    this.#socket = socket;
    this.#limits = limits;
    this.#idleSince = performance.now();
    socket.setNoDelay(true);
    socket.setTimeout(limits.idleMs);
    socket.on('data', (bytes: Buffer) => this.#take(bytes));
    socket.on('end', () => this.destroy(new Error('the store closed the connection')));
    socket.on('timeout', () => this.destroy(new Error('the store takes nothing')));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy(new Error('the connection is closed')));
  }

  /** Connects; rejects with the reason, after `connectMs` at the latest. */
  static async open(
    address: S3Address,
    limits: ConnectionLimits,
    signal: AbortSignal,
  ): Promise<Connection> {
    signal.throwIfAborted();
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const { secure, host, port } = address;
    const name = net.isIP(host) ? {} : { servername: host };
    const socket = secure
      ? tls.connect({ host, port, ...name, ALPNProtocols: ['http/1.1'] }, resolve)
      : net.connect({ host, port }, resolve);
    const timer = setTimeout(
      () => reject(new Error(`no connection within ${limits.connectMs} ms`)),
      limits.connectMs,
    );
    const abort = () => reject(signal.reason);
    signal.addEventListener('abort', abort);
    socket.on('error', reject);
    try {
      await promise;
      return new Connection(socket, limits);
    } catch (error) {
      socket.destroy();
      throw error;
    } finally {
      clearTimeout(timer);
      signal.removeEventListener('abort', abort);
    }
  }

  /** Whether it is open and fresh enough to carry another request. */
  get usable(): boolean {
    if (this.#reason || this.#exchange) return false;
    return performance.now() - this.#idleSince < this.#limits.idleMs;
  }

  /** Begins an exchange; resolves with the answer, which may come before all is written. */
  begin(): Promise<Response> {
    const exchange = Promise.withResolvers<Response>();
    if (this.#reason) exchange.reject(this.#reason);
    else this.#exchange = exchange;
    this.#socket.setTimeout(0);
    return exchange.promise;
  }

  /**
   * Sends bytes in the order of the calls. Resolves when the kernel has taken them (with TLS:
   * when their encrypted form has been), so that their memory may be used again.
   */
  write(bytes: Uint8Array | string): Promise<void> {
    if (this.#reason) return Promise.reject(this.#reason);
    this.#writing += 1;
    // Counts from the last progress of the socket, not from the write.
    if (this.#writing === 1) this.#socket.setTimeout(this.#limits.stallMs);
    return new Promise((resolve, reject) => {
      this.#socket.write(bytes, (error) => {
        this.#writing -= 1;
        // A write cut off by destroy reports no error.
        const failure = this.#reason ?? error;
        if (failure) return reject(failure);
        if (this.#writing === 0) this.#socket.setTimeout(0);
        resolve();
      });
    });
  }

  /** As `write`, for several pieces that leave as one. */
  async writeTogether(pieces: readonly (Uint8Array | string)[]): Promise<void> {
    this.#socket.cork();
    const writes = pieces.map((piece) => this.write(piece));
    this.#socket.uncork();
    await Promise.all(writes);
  }

  /** Closes at once; a request that is not whole is then void. Safe to repeat. */
  destroy(reason: Error): void {
    if (this.#reason) return;
    this.#reason = reason;
    this.#socket.destroy();
    this.#exchange?.reject(reason);
    this.#exchange = null;
  }

  #take(bytes: Buffer): void {
    if (!this.#exchange) {
      this.destroy(new Error('the store spoke unasked'));
      return;
    }
    this.#received = Buffer.concat([this.#received, bytes]);
    try {
      const parsed = parseResponse(this.#received);
      if (!parsed) return;
      const { response, used } = parsed;
      const clean = response.keepAlive && used === this.#received.length && this.#writing === 0;
      this.#received = Buffer.alloc(0);
      this.#exchange.resolve(response);
      this.#exchange = null;
      this.#idleSince = performance.now();
      if (clean) this.#socket.setTimeout(this.#limits.idleMs);
      else this.destroy(new Error('the connection has served its last request'));
    } catch (error) {
      this.destroy(error as Error);
    }
  }
}
