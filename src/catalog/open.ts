import { fileURLToPath, pathToFileURL } from 'node:url';
import { type Catalog, CatalogRefusal } from './catalog.ts';
import { backupSqlite, type CatalogCopy } from './sqlite/backup.ts';
import { sqliteCatalog } from './sqlite/catalog.ts';
import { openThread } from './sqlite/thread-client.ts';
import { openWriter } from './sqlite/writer.ts';

/**
 * Opens the catalog and brings its schema up to date.
 *
 * @param url `sqlite:///abs/path/catalog.db`, percent-encoded (`sqliteUrl` writes one); the file
 *   is made when missing, its directory must be there
 * @param thread true for the service: no disk is ever waited for on the event loop. False for the
 *   command line: the same in this thread.
 * @throws CatalogRefusal `catalog_url` for another address, `schema_newer`; CatalogAway
 */
export async function openCatalog(url: string, { thread }: { thread: boolean }): Promise<Catalog> {
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
  if (/^postgres(ql)?:/.test(url)) {
    const message = 'A catalog on Postgres is backed up with the tools of Postgres (pg_dump).';
    throw new CatalogRefusal('catalog_url', message);
  }
  return backupSqlite(sqlitePath(url), file);
}

/** The address of a catalog in a file. */
export function sqliteUrl(path: string): string {
  return pathToFileURL(path).href.replace(/^file:/, 'sqlite:');
}

function sqlitePath(url: string): string {
  if (/^postgres(ql)?:/.test(url)) {
    const message = 'A catalog on Postgres is not supported yet by this version.';
    throw new CatalogRefusal('catalog_url', message);
  }
  if (!url.startsWith('sqlite:///')) {
    throw new CatalogRefusal('catalog_url', 'A catalog is at sqlite:///path or postgres://….');
  }
  return fileURLToPath(url.replace(/^sqlite:/, 'file:'));
}
