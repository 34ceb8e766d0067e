import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Files that are tested at the same time install one after the other. */
const patiently = ['-o', 'DPkg::Lock::Timeout=300'];

/**
 * A program of Debian's packages, which are installed when it is missing.
 *
 * @param program its absolute path, which is given back
 * @throws Error one line when it is missing and cannot be installed
 */
export async function ensureDebian(program: string, packages: readonly string[]): Promise<string> {
  if (existsSync(program)) return program;
  if (process.getuid?.() !== 0) throw new Error('it is missing, and only root can install it');
  const install = [...patiently, 'install', '-y', '--no-install-recommends', ...packages];
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  const apt = (args: readonly string[]) => run('apt-get', args, { env, timeout: 600_000 });
  try {
    // The lists may be missing, or older than what the mirror still has.
    await apt(install).catch(async () => {
      await apt(['update']);
      await apt(install);
    });
  } catch (cause) {
    throw new Error('it is missing and apt-get could not install it', { cause });
  }
  if (!existsSync(program)) throw new Error(`${packages.join(', ')} did not bring ${program}`);
  return program;
}
