import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { promisify } from 'node:util';
import { type Needed, need } from './needed.ts';

const run = promisify(execFile);

const chromium = '/usr/bin/chromium';
/** Without a font, pages are boxes, and so are their pictures. */
const packages = ['chromium', 'fonts-dejavu-core'];
/** Files that are tested at the same time install one after the other. */
const patiently = ['-o', 'DPkg::Lock::Timeout=300'];

/** Debian's Chromium, or the reason why it cannot be had; for `describeWith`. */
export function chromiumOrSkip(): Promise<Needed<string>> {
  return need('chromium', ensureChromium);
}

/** @throws Error one line when it is missing and cannot be installed */
async function ensureChromium(): Promise<string> {
  if (existsSync(chromium)) return chromium;
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
  return chromium;
}
