import { execFile } from 'node:child_process';
import { access, mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A package of the Python index, installed once, and kept outside of the checkout. */
export interface PythonPackage {
  readonly name: string;
  readonly version: string;
  /** About how long installing it takes, for whoever waits. */
  readonly takes: string;
}

/**
 * The directory of a virtual environment in the user's cache that has the package. Start nothing by
 * the scripts in its `bin`, which name the directory it was made in; its Python can be started.
 *
 * @throws Error one line when it is missing and cannot be installed
 */
export async function ensurePythonPackage(wanted: PythonPackage): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'weir');
  const home = join(cache, `${wanted.name}-${wanted.version}`);
  if (!(await exists(home))) await install(wanted, cache, home);
  return home;
}

async function install(wanted: PythonPackage, cache: string, home: string): Promise<void> {
  const { name, version, takes } = wanted;
  await mkdir(cache, { recursive: true });
  const build = await mkdtemp(join(cache, 'build-'));
  try {
    console.warn(`installing ${name} ${version} (${takes}, once)`);
    await run('python3', ['-m', 'venv', build]);
    const args = ['-m', 'pip', 'install', '--quiet', `${name}==${version}`];
    await run(join(build, 'bin', 'python'), args);
    await rename(build, home);
  } catch (error) {
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOENT') throw new Error('it needs python3 with venv, which is not there');
    const why = stderr?.trim().split('\n').at(-1) || (error as Error).message;
    throw new Error(`pip install failed: ${why}`, { cause: error });
  } finally {
    await rm(build, { recursive: true, force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
