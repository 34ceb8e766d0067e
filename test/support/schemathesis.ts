import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { access, mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Needed, need } from './needed.ts';

const version = '4.32.5';
const checkout = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

/** A Python that has Schemathesis, or the reason why it cannot be had; for `describeWith`. */
export function schemathesisOrSkip(): Promise<Needed<string>> {
  return need('Schemathesis', ensureSchemathesis);
}

/**
 * The Python of a virtual environment: `.cache/schemathesis` in the checkout links to one that is
 * kept outside, so that a fresh clone need not install it again.
 *
 * @throws Error one line when it is missing and cannot be installed
 */
async function ensureSchemathesis(): Promise<string> {
  const cache = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'weir');
  const home = join(cache, `schemathesis-${version}`);
  if (!(await exists(home))) await install(cache, home);
  const link = join(checkout, '.cache', 'schemathesis');
  await mkdir(join(checkout, '.cache'), { recursive: true });
  // Renamed into place, so that another process sees the old link or the new one.
  const fresh = `${link}-${randomUUID()}`;
  await symlink(home, fresh);
  await rename(fresh, link);
  return join(link, 'bin', 'python');
}

/** Nothing in it is started by the scripts of `bin`, which would name the folder it was made in. */
async function install(cache: string, home: string): Promise<void> {
  await mkdir(cache, { recursive: true });
  const build = await mkdtemp(join(cache, 'build-'));
  try {
    console.warn(`installing Schemathesis ${version} (half a minute, once)`);
    await run('python3', ['-m', 'venv', build]);
    const args = ['-m', 'pip', 'install', '--quiet', `schemathesis==${version}`];
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
