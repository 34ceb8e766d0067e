import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

export interface Acknowledged {
  readonly artifactId: string;
  readonly key: string;
  readonly sequence: number;
}

/** A real process that records deliveries on the same file until it is ended. */
export class RecordingChild {
  readonly process: ChildProcess;
  readonly ended: Promise<unknown>;
  stderr = '';
  #stdout = '';

  /** @param fileBlocksMax bounds the files it may write, in blocks of 512 bytes */
  constructor(
    args: { url: string; sourceId: string; where: 'thread' | 'process'; atOnce: number },
    fileBlocksMax?: number,
  ) {
    const file = fileURLToPath(new URL('./recording-child.ts', import.meta.url));
    const node = [process.execPath, '--no-warnings', file];
    const words = [...node, args.url, args.sourceId, args.where, String(args.atOnce)];
    const limited = ['-c', `ulimit -f ${fileBlocksMax}; exec "$@"`, 'sh', ...words];
    const [command, ...rest] = fileBlocksMax === undefined ? words : ['sh', ...limited];
    this.process = spawn(command!, rest, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.process.stdout!.setEncoding('utf8').on('data', (text) => {
      this.#stdout += text;
    });
    this.process.stderr!.setEncoding('utf8').on('data', (text) => {
      this.stderr += text;
    });
    this.ended = once(this.process, 'close');
  }

  /** Whole lines only: a line that a kill cut off was not told. */
  acknowledged(): Acknowledged[] {
    return this.#stdout
      .split('\n')
      .slice(0, -1)
      .map((line) => {
        const [artifactId, key, sequence] = line.split(' ') as [string, string, string];
        return { artifactId, key, sequence: Number(sequence) };
      });
  }

  /** Resolves when it has told of so many; rejects when it ends before. */
  async told(many: number): Promise<void> {
    while (this.acknowledged().length < many) {
      const early = await Promise.race([
        this.ended.then(() => true),
        once(this.process.stdout!, 'data').then(() => false),
      ]);
      if (early) throw new Error(`the child ended: ${this.stderr}`);
    }
  }

  async kill(): Promise<void> {
    this.process.kill('SIGKILL');
    await this.ended;
  }
}
