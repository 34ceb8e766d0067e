import { setImmediate } from 'node:timers/promises';
import type { S3Address } from './address.ts';
import { Connection, type ConnectionLimits } from './connection.ts';
import { Turns } from './turns.ts';

export interface UploadLimits extends ConnectionLimits {
  /** Uploads, and thus connections, at once. */
  readonly atOnce: number;
  /** Uploads that may wait for their turn, and for how long. */
  readonly waitingMax: number;
  readonly waitMs: number;
  /** For the store's answer once the trailer is sent. */
  readonly responseMs: number;
}

export const uploadLimits: UploadLimits = {
  atOnce: 64,
  waitingMax: 4_096,
  waitMs: 30_000,
  connectMs: 5_000,
  stallMs: 30_000,
  responseMs: 30_000,
  idleMs: 20_000,
};

/** The connections that uploads use: at most `atOnce`, the one used last taken first. */
export class Connections {
  readonly #address: S3Address;
  readonly #limits: UploadLimits;
  readonly #turns: Turns;
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(address: S3Address, limits: UploadLimits) {
    this.#address = address;
    this.#limits = limits;
    this.#turns = new Turns(limits);
  }

  /**
   * Waits for a turn, then gives a connection that is open. `giveBack` must follow. Rejects with
   * the reason when refused, aborted or not connected in time; nothing must follow then.
   */
  async take(signal: AbortSignal): Promise<{ connection: Connection; used: boolean }> {
    await this.#turns.take(signal);
    try {
      const connection = await this.#reuse();
      if (connection) return { connection, used: true };
      return { connection: await this.fresh(signal), used: false };
    } catch (error) {
      this.#turns.free();
      throw error;
    }
  }

  /** A new connection in place of one that died before it carried a byte; within the same turn. */
  fresh(signal: AbortSignal): Promise<Connection> {
    return Connection.open(this.#address, this.#limits, signal);
  }

  /** Ends the turn; a connection that can serve again is kept. */
  giveBack(connection: Connection | null): void {
    if (connection?.usable && !this.#closed) this.#idle.push(connection);
    else connection?.destroy(new Error('the connection is not needed any more'));
    this.#turns.free();
  }

  close(): void {
    this.#closed = true;
    for (const connection of this.#idle.splice(0)) {
      connection.destroy(new Error('the store is closed'));
    }
  }

  async #reuse(): Promise<Connection | null> {
    if (this.#idle.length === 0) return null;
    // A poll lies between the two: a close that the kernel has already received is seen first.
    await setImmediate();
    await setImmediate();
    for (;;) {
      const connection = this.#idle.pop();
      if (!connection || connection.usable) return connection ?? null;
      connection.destroy(new Error('the connection was idle for too long'));
    }
  }
}
