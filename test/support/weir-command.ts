import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const launcher = fileURLToPath(new URL('../../src/start/weir', import.meta.url));

export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs `weir …` as a user does. Never rejects: the exit code is part of the answer. */
export function weirCommand(env: NodeJS.ProcessEnv, ...args: readonly string[]): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(launcher, [...args], { env, timeout: 28_000 }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : error ? -1 : 0;
      resolve({ code, stdout, stderr });
    });
  });
}
