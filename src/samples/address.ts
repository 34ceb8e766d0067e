/** Where a ClickHouse answers over HTTP: a server's URL, or the embedded engine's socket file. */
export interface ClickHouseAddress {
  /** Scheme, host and port. With `socketPath` the host is only a name. */
  readonly url: string;
  readonly socketPath?: string;
  readonly username: string;
  readonly password: string;
  readonly database: string;
}

/**
 * Reads `http://user:pass@host:8123/db` (DECISIONS 9, `WEIR_CLICKHOUSE_URL`). The user is
 * `default`, the password empty and the database `weir` where the URL names none.
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
  return {
    url: url.origin,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database: database || 'weir',
  };
}
