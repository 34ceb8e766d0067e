import { basename } from 'node:path';
import type { Progress } from '../client/deliver.ts';

/** Where progress is shown; `process.stderr` is one. */
export interface Terminal {
  readonly isTTY?: boolean;
  readonly columns?: number;
  write(text: string): unknown;
}

const barCells = 20;
const redrawMs = 100;

/**
 * Shows how a file is sent: on a terminal in one line that is drawn again and again, with the wait
 * counted down; elsewhere one line for each wait, so that a log tells why nothing happens.
 */
export class ProgressLine {
  readonly #out: Terminal;
  readonly #file: string;
  readonly #clock: () => number;
  #drawnAt = 0;
  #countdown: NodeJS.Timeout | undefined;

  constructor(out: Terminal, file: string, clock: () => number = Date.now) {
    this.#out = out;
    this.#file = file;
    this.#clock = clock;
  }

  show(progress: Progress): void {
    clearInterval(this.#countdown);
    if (progress.kind === 'sending') this.#sending(progress);
    else this.#waiting(progress);
  }

  /** Takes the line away. */
  end(): void {
    clearInterval(this.#countdown);
    if (this.#out.isTTY) this.#out.write('\r\x1b[2K');
  }

  #sending({ attempt, sent, bytes }: Progress & { kind: 'sending' }): void {
    const now = this.#clock();
    const isEdge = sent === 0 || sent === bytes;
    if (!this.#out.isTTY || (!isEdge && now - this.#drawnAt < redrawMs)) return;
    this.#drawnAt = now;
    const filled = bytes === 0 ? barCells : Math.floor((barCells * sent) / bytes);
    const bar = '█'.repeat(filled).padEnd(barCells, '░');
    this.#draw(`${bar} ${mebibytes(sent)} of ${mebibytes(bytes)} MiB, attempt ${attempt}`);
  }

  #waiting({ attempt, waitMs, why }: Progress & { kind: 'waiting' }): void {
    const end = this.#clock() + waitMs;
    const text = () => {
      const left = Math.max(0, Math.ceil((end - this.#clock()) / 1_000));
      return `${why}; attempt ${attempt + 1} in ${left} s`;
    };
    if (!this.#out.isTTY) {
      this.#out.write(`weir: ${this.#file}: ${text()}\n`);
      return;
    }
    this.#draw(text());
    this.#countdown = setInterval(() => this.#draw(text()), 1_000);
    this.#countdown.unref();
  }

  #draw(text: string): void {
    const line = `${basename(this.#file)}  ${text}`;
    // Some terminals say that they have 0 columns.
    const columns = this.#out.columns || 80;
    this.#out.write(`\r\x1b[2K${line.slice(0, columns - 1)}`);
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}
