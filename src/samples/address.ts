/** Where a ClickHouse answers over HTTP: a server's URL, or the embedded engine's socket file. */
export interface ClickHouseAddress {
  /** Scheme, host and port. With `socketPath` the host is only a name. */
  readonly url: string;
  readonly socketPath?: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
  /** The database is on all nodes of this cluster; absent: on this server alone. */
  readonly cluster?: string;
}

/**
 * Reads `http://user:pass@host:8123/db` (DECISIONS 9, `WEIR_CLICKHOUSE_URL`). The user is
 * `default`, the password empty and the database `weir` where the URL names none. With
 * `?cluster=NAME` the tables are on that cluster (`layout-cluster.ts`), of which the host is any
 * node, or what stands before them.
 *
 * @throws Error with one plain sentence when it is not such a URL; the text never shows the URL,
 *   which may hold a password
 */
export function addressFromUrl(text: string): ClickHouseAddress {
  const url = URL.parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    throw new Error('a ClickHouse URL looks like http://user:pass@host:8123/db');
  }
  const database = decodeURIComponent(url.pathname.slice(1));
  if (!/^\w*$/.test(database)) {
    throw new Error('a ClickHouse database has a name of letters, digits and underscores');
  }
  const { cluster, ...unknown } = Object.fromEntries(url.searchParams);
  if (Object.keys(unknown).length > 0) {
    throw new Error('a ClickHouse URL takes no parameter but cluster');
  }
  if (cluster !== undefined && !/^[\w-]+$/.test(cluster)) {
    throw new Error('a ClickHouse cluster has a name of letters, digits, underscores and dashes');
  }
  return {
    url: url.origin,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database: database || 'weir',
    ...(cluster !== undefined && { cluster }),
  };
}
