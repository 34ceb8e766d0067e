import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { type Needed, need } from './needed.ts';

const run = promisify(execFile);

/** The strace command, or the reason why it cannot be had; for `describeWith`. */
export function straceOrSkip(): Promise<Needed<string>> {
  return need('strace', ensureStrace);
}

/** @throws Error one line when it is missing and cannot be installed, or may not trace */
async function ensureStrace(): Promise<string> {
  if (!(await works('strace', '-V'))) {
    if (process.getuid?.() !== 0) throw new Error('it is missing, and only root can install it');
    try {
      await run('apt-get', ['install', '-y', 'strace'], { timeout: 120_000 });
    } catch (cause) {
      throw new Error('it is missing and apt-get could not install it', { cause });
    }
  }
  if (!(await works('strace', '-o', '/dev/null', 'true'))) {
    throw new Error('this machine does not let processes be traced');
  }
  return 'strace';
}

async function works(command: string, ...args: string[]): Promise<boolean> {
  return run(command, args).then(
    () => true,
    () => false,
  );
}

/** One finished system call. `begun` and `ended` order it among all others of the process. */
export interface SystemCall {
  readonly thread: number;
  readonly name: string;
  /** Arguments as strace writes them: descriptors with their paths, texts cut short. */
  readonly text: string;
  readonly begun: number;
  readonly ended: number;
  readonly failed: boolean;
  /** It failed because the tracer made it fail; the kernel never saw it. */
  readonly injected: boolean;
}

/** Calls that are made to fail: of each thread the `first` one and each `step`-th after it. */
export interface Injection {
  readonly calls: readonly string[];
  readonly error: 'EIO' | 'ENOSPC';
  readonly first: number;
  readonly step: number;
}

export interface TraceOptions {
  /** Only this thread, whose id was given in place of the process's. */
  readonly thread?: boolean;
  /** How much of each text is kept. */
  readonly textBytes?: number;
  readonly inject?: Injection;
}

export interface Tracing {
  /** Ends the tracing, and with it what is injected. */
  stop(): Promise<SystemCall[]>;
}

/**
 * Traces all threads of running processes, and no other program that they start, until `stop`.
 * Several in one trace, so that their calls are in one order.
 */
export async function trace(
  pid: number | readonly number[],
  calls: readonly string[],
  file: string,
  { thread = false, textBytes = 40, inject }: TraceOptions = {},
): Promise<Tracing> {
  const args = ['-y', '-s', String(textBytes), '-e', `trace=${calls.join(',')}`];
  if (!thread) args.push('-f', '-b', 'execve');
  if (inject) args.push('-e', injectionOf(inject));
  const pids = [pid].flat();
  args.push('-o', file, ...pids.flatMap((one) => ['-p', String(one)]));
  const child = spawn('strace', args, {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const exited = once(child, 'exit');
  await attached(child, pids.length);
  return {
    async stop() {
      child.kill('SIGINT');
      await exited;
      return readCalls(await readFile(file, 'utf8'), thread ? pids[0]! : null);
    },
  };
}

/**
 * Traces a command and all that it starts, to its end, with whole texts.
 *
 * @throws Error when it fails
 */
export async function traceCommand(
  command: readonly string[],
  env: NodeJS.ProcessEnv,
  calls: readonly string[],
  file: string,
): Promise<SystemCall[]> {
  const args = ['-f', '-y', '-s', String(1 << 20), '-e', `trace=${calls.join(',')}`, '-o', file];
  await run('strace', [...args, ...command], { env });
  return readCalls(await readFile(file, 'utf8'), null);
}

function injectionOf({ calls, error, first, step }: Injection): string {
  return `inject=${calls.join(',')}:error=${error}:when=${first}+${step}`;
}

async function attached(child: ChildProcess, processes: number): Promise<void> {
  let said = '';
  await new Promise<void>((resolve, reject) => {
    child.once('exit', () => reject(new Error(`strace could not attach: ${said}`)));
    child.stderr!.setEncoding('utf8').on('data', (part: string) => {
      said += part;
      if ((said.match(/attached/g)?.length ?? 0) >= processes) resolve();
    });
  });
}

/**
 * Puts the halves of calls together that another thread's call came between.
 *
 * @param only the one thread that was traced: its lines do not name it
 */
function readCalls(text: string, only: number | null): SystemCall[] {
  const begun = new Map<string, { line: number; text: string }>();
  const calls: SystemCall[] = [];
  for (const [line, content] of text.split('\n').entries()) {
    const named = only === null ? content : `${only} ${content}`;
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(named) ?? [];
    if (thread === undefined || rest === undefined) continue;
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(thread, { line, text: rest.replace(/ ?<unfinished \.\.\.>$/, '') });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const first = resumed ? begun.get(thread) : undefined;
    const whole = resumed ? `${first?.text ?? ''}${resumed[1]}` : rest;
    const name = /^(\w+)\(/.exec(whole)?.[1];
    if (name === undefined) continue;
    calls.push({
      ...{ thread: Number(thread), name, text: whole },
      ...{ begun: first?.line ?? line, ended: line },
      failed: /\) += -1 E[A-Z]+ \([^()]*\)(?: \(INJECTED\))?$/.test(whole),
      injected: whole.endsWith('(INJECTED)'),
    });
  }
  return calls;
}
