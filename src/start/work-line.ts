import type { ProofProgress } from '../proof/rebuild.ts';
import type { Terminal } from './progress-line.ts';

const barCells = 20;
const redrawMs = 100;

/**
 * Shows long work in one line that is drawn again and again, with its rate and the time left; on
 * what is no terminal it shows nothing.
 */
export class WorkLine {
  readonly #out: Terminal;
  readonly #clock: () => number;
  #kind: ProofProgress['kind'] | null = null;
  #begunAt = 0;
  #drawnAt = Number.NEGATIVE_INFINITY;

  constructor(out: Terminal, clock: () => number = () => performance.now()) {
    this.#out = out;
    this.#clock = clock;
  }

  show(progress: ProofProgress): void {
    if (!this.#out.isTTY) return;
    const now = this.#clock();
    if (progress.kind !== this.#kind) {
      this.#kind = progress.kind;
      this.#begunAt = now;
    } else if (now - this.#drawnAt < redrawMs) {
      return;
    }
    this.#drawnAt = now;
    const seconds = (now - this.#begunAt) / 1_000;
    const text = progress.kind === 'building' ? building(progress, seconds) : comparing(progress);
    const columns = this.#out.columns || 80;
    this.#out.write(`\r\x1b[2K${text.slice(0, columns - 1)}`);
  }

  /** Takes the line away. */
  end(): void {
    if (this.#out.isTTY) this.#out.write('\r\x1b[2K');
  }
}

function building(
  { deliveries, bytes }: ProofProgress & { kind: 'building' },
  seconds: number,
): string {
  // Large deliveries take the time of their bytes, small ones that of their number.
  const shares = [share(deliveries), share(bytes)];
  const part = (shares[0]! + shares[1]!) / 2;
  const rate = seconds > 0 ? `${mebibytes(bytes.done / seconds)} MiB/s` : '';
  const left = part > 0 && seconds > 0 ? timeLeft((seconds / part) * (1 - part)) : '';
  const counts = `${deliveries.done} of ${deliveries.all} deliveries`;
  const sizes = `${mebibytes(bytes.done)} of ${mebibytes(bytes.all)} MiB`;
  return [`${bar(part)} ${counts}`, sizes, rate, left].filter(Boolean).join(', ');
}

function comparing({ done, all }: ProofProgress & { kind: 'comparing' }): string {
  return `${bar(share({ done, all }))} compared ${done} of ${all}`;
}

/** More deliveries may come while the work goes on. */
function share({ done, all }: { done: number; all: number }): number {
  return all === 0 ? 1 : Math.min(1, done / all);
}

function bar(part: number): string {
  return '█'.repeat(Math.floor(barCells * part)).padEnd(barCells, '░');
}

function mebibytes(bytes: number): string {
  return (bytes / 1_048_576).toFixed(1);
}

function timeLeft(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s left`;
  if (seconds < 5_400) return `${Math.ceil(seconds / 60)} min left`;
  return `${(seconds / 3_600).toFixed(1)} h left`;
}
