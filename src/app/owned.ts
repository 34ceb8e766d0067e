import type { Catalog } from '../catalog/catalog.ts';
import { AppError } from '../domain/app-errors.ts';
import type { AccessKey, Delivery, Source } from '../domain/nouns.ts';
import type { SignedIn } from './session.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

function nothing(): AppError {
  return new AppError('not_found', 'The company has no such thing.');
}

/**
 * The source of that id, when it is the company's own. Others are as unknown as those that are
 * nowhere.
 *
 * @throws AppError 404
 */
export async function ownSource(
  { directory }: Pick<Catalog, 'directory'>,
  by: SignedIn,
  sourceId: string,
): Promise<Source> {
  const source = uuid.test(sourceId) ? await directory.source(sourceId.toLowerCase()) : null;
  if (source?.companyId !== by.company.companyId) throw nothing();
  return source;
}

/** @throws AppError 404 */
export async function ownKey(
  catalog: Pick<Catalog, 'directory'>,
  by: SignedIn,
  keyId: string,
): Promise<{ key: AccessKey; source: Source }> {
  const key = uuid.test(keyId) ? await catalog.directory.key(keyId.toLowerCase()) : null;
  if (!key) throw nothing();
  return { key, source: await ownSource(catalog, by, key.sourceId) };
}

/** @throws AppError 404 */
export async function ownDelivery(
  catalog: Pick<Catalog, 'directory' | 'deliveries'>,
  by: SignedIn,
  artifactId: string,
): Promise<{ delivery: Delivery; source: Source }> {
  const found = uuid.test(artifactId)
    ? await catalog.deliveries.byArtifact(artifactId.toLowerCase())
    : null;
  if (!found) throw nothing();
  return { delivery: found, source: await ownSource(catalog, by, found.sourceId) };
}
