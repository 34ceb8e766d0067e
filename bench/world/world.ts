import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Size } from '../case.ts';

/** Something that was started, and how to end it. */
export interface Started<T> {
  readonly value: T;
  stop(): Promise<unknown>;
}

/**
 * What the cases of one group share: servers, loaders and data are made when they are first asked
 * for, and ended together, the last one first.
 */
export class World {
  readonly size: Size;
  readonly #made = new Map<string, Promise<unknown>>();
  readonly #stops: (() => Promise<unknown>)[] = [];

  constructor(size: Size) {
    this.size = size;
  }

  /** The thing of that name; made by the first who asks for it. */
  once<T>(name: string, start: () => Promise<Started<T>>): Promise<T> {
    const made = this.#made.get(name);
    if (made) return made as Promise<T>;
    const making = start().then(({ value, stop }) => {
      this.#stops.push(stop);
      return value;
    });
    this.#made.set(name, making);
    return making;
  }

  /** A directory that goes when the world ends. */
  async directory(name: string): Promise<string> {
    return this.once(`directory ${name}`, async () => {
      const path = await mkdtemp(join(tmpdir(), `weir-bench-${name}-`));
      return { value: path, stop: () => rm(path, { recursive: true, force: true }) };
    });
  }

  async end(): Promise<void> {
    this.#made.clear();
    for (const stop of this.#stops.splice(0).reverse()) await stop();
  }
}
