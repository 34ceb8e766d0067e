import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

export const minuteMs = 60_000;
export const hourMs = 60 * minuteMs;
export const dayMs = 24 * hourMs;

/** Programs look at the file every 10 ms. */
const seenWithinMs = 150;

/** The wall clock of the programs that have its settings in their environment. */
export class TestClock {
  /** For the environment of a weir. */
  readonly settings: Readonly<Record<string, string>>;
  readonly #dir: string;
  readonly #file: string;
  #shiftMs = 0;

  private constructor(dir: string) {
    this.#dir = dir;
    this.#file = join(dir, 'shift');
    const preload = new URL('./shifted-date.ts', import.meta.url).href;
    this.settings = { NODE_OPTIONS: `--import=${preload}`, TEST_CLOCK_FILE: this.#file };
    writeFileSync(this.#file, '0');
  }

  static async make(): Promise<TestClock> {
    return new TestClock(await mkdtemp(join(tmpdir(), 'weir-clock-')));
  }

  now(): number {
    return Date.now() + this.#shiftMs;
  }

  /** Sets the clock so far forward, or back, from the real time. */
  async set(shiftMs: number): Promise<void> {
    this.#shiftMs = shiftMs;
    // As one write of a few bytes: a reader in between finds the old ones or the new ones.
    writeFileSync(this.#file, String(shiftMs).padEnd(16));
    await sleep(seenWithinMs);
  }

  /** Sets the clock to a time. */
  setTo(time: number): Promise<void> {
    return this.set(time - Date.now());
  }

  remove(): Promise<void> {
    return rm(this.#dir, { recursive: true });
  }
}
