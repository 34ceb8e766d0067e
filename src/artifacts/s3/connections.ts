import { setImmediate } from 'node:timers/promises';
import type { S3Address } from './address.ts';
import { Connection, type ConnectionLimits } from './connection.ts';
import { type Turn, type TurnLimits, Turns } from './turns.ts';

export interface UploadLimits extends ConnectionLimits, TurnLimits {
  /** Uploads of whole bodies at once, which wait for no other. */
  readonly wholeAtOnce: number;
  /** For the store's answer once the trailer is sent. */
  readonly responseMs: number;
}

/**
 * Connections are `atOnce`, `lentMax` and `wholeAtOnce` together, and those of uploads whose turn
 * was lent and that wait for one to go on: `waitingMax` of these at most.
 */
export const uploadLimits: UploadLimits = {
  atOnce: 64,
  wholeAtOnce: 16,
  waitingMax: 4_096,
  waitMs: 30_000,
  restMs: 100,
  lentMax: 192,
  stalledMs: 2_000,
  connectMs: 5_000,
  stallMs: 30_000,
  responseMs: 30_000,
  idleMs: 20_000,
};

export interface TakenConnection {
  readonly connection: Connection;
  /** It carried another request before. */
  readonly used: boolean;
  readonly turn: Turn;
}

/** The connections that uploads use, the one used last taken first. */
export class Connections {
  readonly #address: S3Address;
  readonly #limits: UploadLimits;
  readonly #turns: { readonly streamed: Turns; readonly whole: Turns };
  readonly #idle: Connection[] = [];
  #closed = false;

  constructor(address: S3Address, limits: UploadLimits) {
    this.#address = address;
    this.#limits = limits;
    // Whole bodies never stall, and must not wait behind senders who do.
    const whole = new Turns({ ...limits, atOnce: limits.wholeAtOnce });
    this.#turns = { streamed: new Turns(limits), whole };
  }

  /**
   * Waits for a turn, then gives a connection that is open. `giveBack` must follow. Rejects with
   * the reason when refused, aborted or not connected in time; nothing must follow then.
   *
   * @param giveWay called when the upload stalled for so long that others need its connection
   */
  async take(
    kind: 'streamed' | 'whole',
    signal: AbortSignal,
    giveWay?: (reason: Error) => void,
  ): Promise<TakenConnection> {
    const turn = await this.#turns[kind].take(signal, giveWay);
    try {
      const connection = await this.#reuse();
      if (connection) return { connection, used: true, turn };
      return { connection: await this.fresh(signal), used: false, turn };
    } catch (error) {
      turn.end();
      throw error;
    }
  }

  /** A new connection in place of one that died before it carried a byte; within the same turn. */
  fresh(signal: AbortSignal): Promise<Connection> {
    return Connection.open(this.#address, this.#limits, signal);
  }

  /** Ends the turn; a connection that can serve again is kept. */
  giveBack(turn: Turn, connection: Connection | null): void {
    if (connection?.usable && !this.#closed) this.#idle.push(connection);
    else connection?.destroy(new Error('the connection is not needed any more'));
    turn.end();
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
