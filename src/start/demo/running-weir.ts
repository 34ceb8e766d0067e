import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const launcher = fileURLToPath(new URL('../weir', import.meta.url));
const run = promisify(execFile);

/** Where one weir keeps its data and answers. */
export interface WeirPlace {
  readonly dataDir: string;
  readonly api: number;
  readonly app: number;
  readonly ops: number;
  /** Further settings. */
  readonly settings?: Readonly<Record<string, string>>;
  /** Further arguments of `weir serve`. */
  readonly args?: readonly string[];
}

/** Another program's weir: started, used and ended from outside, as a user would. */
export class RunningWeir {
  readonly place: WeirPlace;
  #child: ChildProcess | null = null;
  readonly #commands = new Set<ChildProcess>();
  #log = '';

  constructor(place: WeirPlace) {
    this.place = place;
  }

  get url(): string {
    return `http://127.0.0.1:${this.place.api}`;
  }

  /** Of its listener for operators. */
  get opsUrl(): string {
    return `http://127.0.0.1:${this.place.ops}`;
  }

  /** Of the service's process; null while none runs. */
  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** Whether the service's process runs: it was started, and neither ended nor killed. */
  get isRunning(): boolean {
    return this.#child !== null && this.#child.exitCode === null && !this.#child.signalCode;
  }

  /** What the service wrote to its log so far. */
  get log(): string {
    return this.#log;
  }

  /** Starts the service and waits until it is ready. */
  async start(waitMs = 60_000): Promise<void> {
    const child = spawn(launcher, ['serve', ...(this.place.args ?? [])], {
      env: this.env(),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        this.#log = (this.#log + text).slice(-1_000_000);
      });
    }
    const end = Date.now() + waitMs;
    while (!(await this.#isReady())) {
      const ended = child.exitCode !== null || child.signalCode !== null;
      if (ended) throw new Error(`weir serve ended: ${this.#log.slice(-2_000)}`);
      if (Date.now() > end) throw new Error(`weir is not ready: ${this.#log.slice(-2_000)}`);
      await sleep(50);
    }
  }

  async #isReady(): Promise<boolean> {
    try {
      return (await fetch(`${this.opsUrl}/readyz`)).ok;
    } catch {
      return false;
    }
  }

  /** Sends a signal and waits for the end. */
  async end(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null || child.signalCode !== null) return;
    child.kill(signal);
    await once(child, 'exit');
  }

  /** Waits until the service has ended by itself. */
  async died(): Promise<{ code: number | null; signal: NodeJS.Signals | null }> {
    const child = this.#child;
    if (!child) throw new Error('no service runs');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    return { code: child.exitCode, signal: child.signalCode };
  }

  /** Runs a command beside the service. @returns what it printed as JSON */
  async cli<T>(...args: readonly string[]): Promise<T> {
    const options = { env: this.env(), maxBuffer: 256 * 1024 * 1024 };
    const running = run(launcher, [...args, '--json'], options);
    this.#commands.add(running.child);
    try {
      return JSON.parse((await running).stdout) as T;
    } finally {
      this.#commands.delete(running.child);
    }
  }

  /** Ends the commands that are under way, and waits for their end. */
  async endCommands(): Promise<void> {
    const ending = [...this.#commands].map(async (child) => {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill();
      await once(child, 'exit');
    });
    await Promise.all(ending);
  }

  /** The environment without settings of its own, and this weir's. */
  env(): NodeJS.ProcessEnv {
    const { dataDir, api, app, ops, settings } = this.place;
    const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('WEIR_'));
    return {
      ...Object.fromEntries(clean),
      WEIR_DATA_DIR: dataDir,
      WEIR_LISTEN: `127.0.0.1:${api}`,
      WEIR_APP_LISTEN: `127.0.0.1:${app}`,
      WEIR_OPS_LISTEN: `127.0.0.1:${ops}`,
      ...settings,
    };
  }
}

/** Ports of this machine that nobody listens on, below those of outgoing connections. */
export async function freePorts(count: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < count) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) ports.add(port);
  }
  return [...ports];
}

/** Whether a port can be listened on. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
