import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Catalog, CatalogRefusal } from './catalog.ts';
import { backupSqlite, type CatalogCopy } from './sqlite/backup.ts';
import { sqliteCatalog } from './sqlite/catalog.ts';
import { openThread } from './sqlite/thread-client.ts';
import { openWriter } from './sqlite/writer.ts';

/**
 * Opens the catalog and brings its schema up to date.
 *
 * @param url `postgres://…`, or `sqlite:///abs/path/catalog.db`, percent-encoded (`sqliteUrl`
 *   writes one); the file is made when missing, its directory must be there
 * @param thread of a file, true for the service: no disk is ever waited for on the event loop.
 *   False for the command line: the same in this thread.
 * @throws CatalogRefusal `catalog_url` for another address, `schema_newer`, `catalog_not_durable`;
 *   CatalogAway
 */
export async function openCatalog(url: string, { thread }: { thread: boolean }): Promise<Catalog> {
  if (isPostgres(url)) {
    // Imported here, so that who has a catalog in a file does not wait for the driver.
    const { openPostgres } = await import('./postgres/catalog.ts');
    return openPostgres(url);
  }
  const path = sqlitePath(url);
  const writer = thread ? await openThread(path) : await openWriter(path);
  try {
    return sqliteCatalog(path, writer);
  } catch (error) {
    await writer.close();
    throw error;
  }
}

/**
 * Copies a catalog to a file, consistent and durable, while others use it.
 *
 * @throws CatalogRefusal `catalog_url` for a catalog on Postgres, which has its own tools
 */
export function backupCatalog(url: string, file: string): Promise<CatalogCopy> {
  if (isPostgres(url)) {
    const message = 'A catalog on Postgres is backed up with the tools of Postgres (pg_dump).';
    throw new CatalogRefusal('catalog_url', message);
  }
  return backupSqlite(sqlitePath(url), file);
}

/** The address of a catalog in a file. */
export function sqliteUrl(path: string): string {
  return pathToFileURL(path).href.replace(/^file:/, 'sqlite:');
}

/** Whether several nodes may share the catalog at this address. */
export function isPostgres(url: string): boolean {
  return /^postgres(ql)?:/.test(url);
}

function sqlitePath(url: string): string {
  if (!url.startsWith('sqlite:///')) {
    throw new CatalogRefusal('catalog_url', 'A catalog is at sqlite:///path or postgres://….');
  }
  return fileURLToPath(url.replace(/^sqlite:/, 'file:'));
}
