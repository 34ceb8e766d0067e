import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** One connection whose bytes a test writes itself. */
export class RawSocket {
  readonly #socket: net.Socket;
  #received = Buffer.alloc(0);
  #closed = false;
  #changed: (() => void)[] = [];

  private constructor(socket: net.Socket) {
    this.#socket = socket;
    socket.setNoDelay(true);
    socket.on('data', (bytes) => {
      this.#received = Buffer.concat([this.#received, bytes]);
      this.#tell();
    });
    // A reset is an end like another; what came before it is what counts.
    socket.on('error', () => {});
    socket.on('close', () => {
      this.#closed = true;
      this.#tell();
    });
  }

  static async open(port: number): Promise<RawSocket> {
    const socket = net.connect(port, '127.0.0.1');
    await new Promise<void>((resolve, reject) => {
      socket.once('connect', resolve);
      socket.once('error', reject);
    });
    return new RawSocket(socket);
  }

  get closed(): boolean {
    return this.#closed;
  }

  /** False once either side has ended it. */
  get writable(): boolean {
    return this.#socket.writable;
  }

  get received(): string {
    return this.#received.toString('latin1');
  }

  write(bytes: string | Uint8Array): void {
    if (this.#socket.writable) this.#socket.write(bytes);
  }

  /** Drops what was received so far. */
  forget(): void {
    this.#received = Buffer.alloc(0);
  }

  /** Resolves when everything written was handed to the system. */
  flushed(): Promise<void> {
    if (!this.#socket.writable) return Promise.resolve();
    return new Promise((resolve) => this.#socket.write('', () => resolve()));
  }

  /**
   * Waits for the next whole answer and takes it out of what was received.
   *
   * @throws Error when it has not come after `waitMs`, or never will
   */
  async answer(waitMs = 10_000): Promise<RawAnswer> {
    const end = Date.now() + waitMs;
    for (;;) {
      const found = firstAnswer(this.#received);
      if (found) {
        this.#received = this.#received.subarray(found.bytes);
        return found.answer;
      }
      if (this.#closed) {
        const answer = unframed(this.received);
        if (answer) return answer;
        throw new Error(`closed without an answer; received: ${this.received.slice(0, 500)}`);
      }
      if (Date.now() > end) throw new Error(`no answer; received: ${this.received.slice(0, 500)}`);
      await this.#change(end - Date.now());
    }
  }

  /** Waits until the other side has closed; false when it has not after `waitMs`. */
  async end(waitMs: number): Promise<boolean> {
    const end = Date.now() + waitMs;
    while (!this.#closed && Date.now() < end) await this.#change(end - Date.now());
    return this.#closed;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #tell(): void {
    for (const tell of this.#changed.splice(0)) tell();
  }

  async #change(waitMs: number): Promise<void> {
    await Promise.race([
      new Promise<void>((resolve) => this.#changed.push(resolve)),
      sleep(Math.max(1, waitMs)),
    ]);
  }
}

export interface RawAnswer {
  readonly status: number;
  /** Lower case name → value. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** The head of a request, with its final empty line. */
export function head(line: string, headers: Readonly<Record<string, string>>): string {
  const lines = Object.entries({ Host: 'weir.test', ...headers }).map(([k, v]) => `${k}: ${v}\r\n`);
  return `${line} HTTP/1.1\r\n${lines.join('')}\r\n`;
}

function firstAnswer(bytes: Buffer): { answer: RawAnswer; bytes: number } | null {
  const text = bytes.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return null;
  const { status, headers } = readHead(text.slice(0, end));
  const bodyStart = end + 4;
  const bodiless = status === 100 || status === 304;
  const length = bodiless ? 0 : Number(headers.get('content-length') ?? Number.NaN);
  if (Number.isNaN(length) || bytes.length < bodyStart + length) return null;
  const body = text.slice(bodyStart, bodyStart + length);
  return { answer: { status, headers, body }, bytes: bodyStart + length };
}

/** An answer without a length ends with its connection. */
function unframed(text: string): RawAnswer | null {
  const end = text.indexOf('\r\n\r\n');
  return end < 0 ? null : { ...readHead(text.slice(0, end)), body: text.slice(end + 4) };
}

function readHead(text: string): { status: number; headers: Map<string, string> } {
  const [first = '', ...lines] = text.split('\r\n');
  const headers = new Map(
    lines.map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()] as const;
    }),
  );
  return { status: Number(first.split(' ')[1]), headers };
}
