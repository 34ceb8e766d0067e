import Sqlite from 'better-sqlite3';
import { CatalogAway, CatalogFull } from '../catalog.ts';

/** What lies with the disk, the file or another process; all else is a defect of weir. */
const away =
  /^SQLITE_(BUSY|LOCKED|FULL|IOERR|CANTOPEN|READONLY|PERM|AUTH|NOMEM|CORRUPT|NOTADB|PROTOCOL)/;

/** @returns `CatalogAway` for what the database cannot do now, any other error as it is */
export function asCatalogError(error: unknown): unknown {
  if (error instanceof Sqlite.SqliteError && away.test(error.code)) {
    // Full while the log was written: the commit's last page, which makes it count, is not there.
    const Kind = error.code === 'SQLITE_FULL' ? CatalogFull : CatalogAway;
    return new Kind(`${error.code}: ${error.message}`, { cause: error });
  }
  if (error instanceof TypeError && error.message === 'The database connection is not open') {
    return new CatalogAway('the catalog is closed', { cause: error });
  }
  return error;
}
