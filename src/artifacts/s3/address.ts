/** An S3 store as its URL names it. */
export interface S3Address {
  readonly secure: boolean;
  /** A name or an IP address, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
  readonly region: string;
}

const form = 's3+http://KEY:SECRET@host:port/bucket or s3+https://…, with ?region= if needed';

/**
 * Reads `s3+http(s)://KEY:SECRET@host:port/bucket?region=R` (DECISIONS 9). Key and secret are
 * percent-decoded; the region is `us-east-1` when not given.
 *
 * @throws Error one line that never holds the secret
 */
export function parseS3Address(text: string): S3Address {
  const url = parsed(text);
  const secure = url.protocol === 's3+https:';
  if (!secure && url.protocol !== 's3+http:') throw bad('it begins otherwise');
  if (!url.hostname) throw bad('the host is missing');
  if (!url.username || !url.password) throw bad('the key or the secret is missing');
  const bucket = url.pathname.slice(1);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) throw bad('the bucket is not a name');
  const unknown = [...url.searchParams.keys()].find((name) => name !== 'region');
  if (unknown !== undefined) throw bad(`${JSON.stringify(unknown)} is not an option`);
  const region = url.searchParams.get('region') ?? 'us-east-1';
  if (!/^[a-z0-9-]{1,64}$/.test(region)) throw bad('the region is not a name');
  if (url.hash) throw bad('nothing follows a #');
  return {
    secure,
    host: url.hostname.replace(/^\[|\]$/g, ''),
    port: url.port ? Number(url.port) : secure ? 443 : 80,
    accessKey: decoded(url.username),
    secretKey: decoded(url.password),
    bucket,
    region,
  };
}

/** The `Host` header of a request to it: the port only where it is not the scheme's own. */
export function hostHeader({ secure, host, port }: S3Address): string {
  const name = host.includes(':') ? `[${host}]` : host;
  return port === (secure ? 443 : 80) ? name : `${name}:${port}`;
}

function parsed(text: string): URL {
  try {
    return new URL(text);
  } catch {
    // The cause would quote the URL, and with it the secret.
    throw bad('it is not a URL');
  }
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw bad('the key or the secret is not well percent-encoded');
  }
}

function bad(why: string): Error {
  return new Error(`the artifact store's URL must look like ${form}: ${why}`);
}
