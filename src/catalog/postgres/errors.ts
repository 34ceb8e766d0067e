import pg from 'pg';
import { CatalogAway, CatalogFull } from '../catalog.ts';

/** Classes and codes of SQLSTATE that lie with the server, the network or another process. */
const away = /^(08|28|3D|40|53|57|58|XX)|^(55P03|25006|25P03|25P04)$/;
/** What Node says of a connection that cannot be made or was lost. */
const lost = new RegExp(
  '^(ECONN|EPIPE|ETIMEDOUT|EHOST|ENET|ENOTFOUND|EAI_|' +
    'CERT_|ERR_SSL_|ERR_TLS_|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_)',
);
/** What the driver says of one, without a code. */
const lostSaid = new RegExp(
  '^(Connection terminated|timeout exceeded when trying to connect|Client has encountered|' +
    'Client was closed|The server does not support SSL|There was an error establishing an SSL)',
);
const closed = 'Cannot use a pool after calling end on the pool';

/** @returns `CatalogAway` for what the database cannot do now, any other error as it is */
export function asCatalogError(error: unknown): unknown {
  if (error instanceof AggregateError && error.errors.length > 0) {
    // Every address of a name was tried.
    return asCatalogError(error.errors[0]);
  }
  if (!(error instanceof Error)) return error;
  if (error instanceof pg.DatabaseError) {
    const { code = '' } = error;
    if (code === '53100') return new CatalogFull(`${code}: ${error.message}`, { cause: error });
    return away.test(code) ? new CatalogAway(`${code}: ${error.message}`, { cause: error }) : error;
  }
  const { code } = error as NodeJS.ErrnoException;
  if (error.message === closed) return new CatalogAway('the catalog is closed', { cause: error });
  if ((code !== undefined && lost.test(code)) || lostSaid.test(error.message)) {
    return new CatalogAway(`the catalog cannot be reached: ${error.message}`, { cause: error });
  }
  return error;
}

/**
 * Throws for a commit that failed. Whatever the server says of it, even that its disk is full: the
 * commit may be on that disk already, and hold when the server is back.
 */
export function inDoubt(error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new CatalogAway(`nobody can say whether this was committed: ${why}`, { cause: error });
}
