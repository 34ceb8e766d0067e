import type { Directory } from '../catalog/catalog.ts';
import { openSecret } from '../domain/secrets.ts';
import { type SecretKeySettings, secretKey } from './secret-key.ts';
import { SettingsError } from './settings.ts';

/**
 * Opens one of the catalog's signing secrets: a lost or exchanged key shows at the start and not
 * with the first webhook.
 *
 * @throws SettingsError when the key is not the one that it was sealed with
 */
export async function checkSecrets(
  settings: SecretKeySettings,
  directory: Pick<Directory, 'someCurrentSecret'>,
): Promise<void> {
  const secret = await directory.someCurrentSecret();
  if (!secret) return;
  const key = secretKey(settings);
  try {
    openSecret(key, secret.secretId, secret.sealed);
  } catch (cause) {
    const where = settings.WEIR_SECRET_KEY ? 'WEIR_SECRET_KEY' : `${settings.dataDir}/secret.key`;
    const message =
      `the signing secrets in the catalog were sealed with another key than that of ${where}: ` +
      'bring that key back, or rotate the secret of every webhook source (weir secret rotate)';
    throw new SettingsError(message, { cause });
  }
}
