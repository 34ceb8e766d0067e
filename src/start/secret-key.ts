import { randomBytes } from 'node:crypto';
import { linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeDataDir, syncDirectory } from './data-dir.ts';
import { type Settings, SettingsError } from './settings.ts';

/** What decides about the key. */
export type SecretKeySettings = Pick<Settings, 'WEIR_SECRET_KEY' | 'dataDir'>;

const keyPattern = /^[0-9a-fA-F]{64}\n?$/;

/**
 * The key that signing secrets are sealed with (DECISIONS 9): `WEIR_SECRET_KEY`, else the key file
 * in the data directory, which is made by whoever needs it first. A lost key file cannot be made
 * again: the secrets sealed with it are lost then, and each source needs a rotation.
 *
 * @returns 32 bytes
 * @throws SettingsError when the key file cannot be read or made, or holds something else
 */
export function secretKey(settings: SecretKeySettings): Buffer {
  if (settings.WEIR_SECRET_KEY) return Buffer.from(settings.WEIR_SECRET_KEY, 'hex');
  const path = join(settings.dataDir, 'secret.key');
  let text: string;
  try {
    text = readKeyFile(path) ?? makeKeyFile(settings.dataDir, path);
  } catch (cause) {
    const why = (cause as NodeJS.ErrnoException).code ?? String(cause);
    throw new SettingsError(`the key file ${path} cannot be read or made: ${why}`, { cause });
  }
  if (keyPattern.test(text)) return Buffer.from(text.trim(), 'hex');
  throw new SettingsError(`the key file ${path} does not hold 64 hex digits`);
}

function readKeyFile(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
}

/**
 * Ordering: the key is durable under a name of its own → a link gives it its final name, unless
 * another process was first → the directory is durable. So nobody ever reads half a key, all
 * processes read the same one, and nothing is sealed with a key that a power cut takes away.
 */
function makeKeyFile(dataDir: string, path: string): string {
  makeDataDir(dataDir);
  const own = `${path}.${randomBytes(8).toString('hex')}`;
  const flags = { flag: 'wx', mode: 0o600, flush: true } as const;
  writeFileSync(own, `${randomBytes(32).toString('hex')}\n`, flags);
  try {
    linkSync(own, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    rmSync(own);
  }
  syncDirectory(dataDir);
  return readFileSync(path, 'utf8');
}
