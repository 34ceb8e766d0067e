import { execFile } from 'node:child_process';
import { access, constants, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A program that is made from Go sources once, and kept outside of the checkout. */
export interface GoProgram {
  readonly name: string;
  readonly version: string;
  /** About how long making it takes, for whoever waits. */
  readonly takes: string;
  /** The arguments of `go` that put it into a directory, under its name or `madeAs`. */
  build(directory: string): readonly string[];
  readonly madeAs?: string;
  /** Where `go` runs; its module's directory, if it has one. */
  readonly cwd?: string;
}

/**
 * The path of the program in the user's cache, so that a fresh clone need not build it again.
 *
 * @throws Error one line when it is missing and cannot be built
 */
export async function ensureGoBinary(program: GoProgram): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'weir');
  const binary = join(cache, `${program.name}-${program.version}`);
  if (!(await isExecutable(binary))) await build(program, cache, binary);
  return binary;
}

async function build(program: GoProgram, cache: string, binary: string): Promise<void> {
  const { name, version, takes, cwd, madeAs = name } = program;
  await mkdir(cache, { recursive: true });
  const bin = await mkdtemp(join(cache, 'build-'));
  try {
    console.warn(`building ${name} ${version} (${takes}, once)`);
    const env = { ...process.env, GOBIN: bin };
    await run('go', [...program.build(bin)], { env, ...(cwd === undefined ? {} : { cwd }) });
    await rename(join(bin, madeAs), binary);
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error('it must be built and there is no go command');
    const why = stderr?.trim().split('\n').at(-1) || (error as Error).message;
    throw new Error(`go ${program.build('…')[0]} failed: ${why}`, { cause: error });
  } finally {
    await rm(bin, { recursive: true, force: true });
  }
}

async function isExecutable(path: string): Promise<boolean> {
  return access(path, constants.X_OK).then(
    () => true,
    () => false,
  );
}
