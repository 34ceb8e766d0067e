import Sqlite from 'better-sqlite3';
import { CatalogAway } from '../catalog.ts';

/** What lies with the disk, the file or another process; all else is a defect of weir. */
const away =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|PERM|AUTH|NOMEM|CORRUPT|NOTADB|PROTOCOL)/;

/** @returns `CatalogAway` for what the database cannot do now, any other error as it is */
export function asCatalogError(error: unknown): unknown {
  if (error instanceof Sqlite.SqliteError && away.test(error.code)) {
    return new CatalogAway(`${error.code}: ${error.message}`, { cause: error });
  }
  if (error instanceof TypeError && error.message === 'The database connection is not open') {
    return new CatalogAway('the catalog is closed', { cause: error });
  }
  return error;
}
