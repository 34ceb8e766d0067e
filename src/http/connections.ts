import type { HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { readFileSync } from 'node:fs';
import { limits } from '../domain/limits.ts';

/** What is said of connections that were closed at once. */
export interface ConnectionsLog {
  error(fields: object, message: string): void;
}

const sayEveryMs = 60_000;

/**
 * Counts the connections of a listener. Beyond `max` a new one is closed at once: a process without
 * a file left could neither store nor look anything up.
 */
export class Connections {
  readonly max: number;
  readonly #log: ConnectionsLog;
  readonly #onOpen: () => void;
  #open = 0;
  #saidAt = Number.NEGATIVE_INFINITY;

  /** @param onOpen called for each that is let in */
  constructor(max: number, log: ConnectionsLog, onOpen: () => void) {
    this.max = max;
    this.#log = log;
    this.#onOpen = onOpen;
  }

  get open(): number {
    return this.#open;
  }

  watch(app: TemplatedApp): void {
    app.filter((res, change) => this.#changed(res, change));
  }

  #changed(res: HttpResponse, change: number): void {
    this.#open += change;
    if (change < 0) return;
    if (this.#open <= this.max) {
      this.#onOpen();
      return;
    }
    this.#say();
    res.close();
  }

  #say(): void {
    const now = performance.now();
    if (now - this.#saidAt < sayEveryMs) return;
    this.#saidAt = now;
    this.#log.error({ connectionsMax: this.max }, 'too many connections: new ones are closed');
  }
}

/**
 * How many connections one listener takes: a quarter of the files that this process may have open,
 * for there are three of them and the stores need the rest.
 */
export function connectionsMax(): number {
  const files = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'latin1'))?.[1];
  return Math.min(limits.connectionsMax, Math.floor(Number(files ?? Infinity) / 4));
}
