import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

const execute = promisify(execFile);

export interface RunOptions {
  readonly cwd?: string;
  readonly env?: Record<string, string>;
}

/**
 * Runs a program to its end.
 *
 * @returns what it wrote to stdout
 * @throws Error with the end of what it wrote, when it fails
 */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions = {},
): Promise<string> {
  try {
    const { stdout } = await execute(command, [...args], { ...options, maxBuffer: 64 << 20 });
    return stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    const said = `${stdout}${stderr}`.slice(-4_000);
    throw new Error(`${command} ${args.join(' ')} failed:\n${said}`, { cause: error });
  }
}
