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
  readonly name: string;
  /** Arguments as strace writes them: descriptors with their paths, texts cut short. */
  readonly text: string;
  readonly begun: number;
  readonly ended: number;
  readonly failed: boolean;
}

/** Traces all threads of a running process until `stop`. */
export async function trace(
  pid: number,
  calls: readonly string[],
  file: string,
): Promise<{ stop(): Promise<SystemCall[]> }> {
  const args = ['-f', '-y', '-s', '40', '-e', `trace=${calls.join(',')}`];
  const child = spawn('strace', [...args, '-o', file, '-p', String(pid)], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  await attached(child);
  return {
    async stop() {
      const ended = once(child, 'exit');
      child.kill('SIGINT');
      await ended;
      return readCalls(await readFile(file, 'utf8'));
    },
  };
}

async function attached(child: ChildProcess): Promise<void> {
  let said = '';
  for await (const part of child.stderr!) {
    said += String(part);
    if (/attached/.test(said)) break;
  }
  if (!/attached/.test(said)) throw new Error(`strace could not attach: ${said}`);
}

/** Puts the halves of calls together that another thread's call came between. */
function readCalls(text: string): SystemCall[] {
  const begun = new Map<string, { line: number; text: string }>();
  const calls: SystemCall[] = [];
  for (const [line, content] of text.split('\n').entries()) {
    const [, thread, rest] = /^(\d+) +(.*)$/.exec(content) ?? [];
    if (thread === undefined || rest === undefined) continue;
    if (rest.endsWith('<unfinished ...>')) {
      begun.set(thread, { line, text: rest.replace(/<unfinished \.\.\.>$/, '') });
      continue;
    }
    const resumed = /^<\.\.\. \w+ resumed>(.*)$/.exec(rest);
    const first = resumed ? begun.get(thread) : undefined;
    const whole = resumed ? `${first?.text ?? ''}${resumed[1]}` : rest;
    const name = /^(\w+)\(/.exec(whole)?.[1];
    if (name === undefined) continue;
    const failed = / = -1 /.test(whole);
    calls.push({ name, text: whole, begun: first?.line ?? line, ended: line, failed });
  }
  return calls;
}
