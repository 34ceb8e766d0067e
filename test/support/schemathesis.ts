import { randomUUID } from 'node:crypto';
import { mkdir, rename, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Needed, need } from './needed.ts';
import { ensurePythonPackage } from './python-package.ts';

const wanted = { name: 'schemathesis', version: '4.32.5', takes: 'half a minute' };
const checkout = fileURLToPath(new URL('../..', import.meta.url));

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
  const home = await ensurePythonPackage(wanted);
  const link = join(checkout, '.cache', 'schemathesis');
  await mkdir(join(checkout, '.cache'), { recursive: true });
  // Renamed into place, so that another process sees the old link or the new one.
  const fresh = `${link}-${randomUUID()}`;
  await symlink(home, fresh);
  await rename(fresh, link);
  return join(link, 'bin', 'python');
}
