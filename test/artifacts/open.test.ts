import { describe, expect, test } from 'vitest';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { hostHeader, parseS3Address } from '../../src/artifacts/s3/address.ts';

const addresses = [
  {
    url: 's3+http://admin:adminadmin@127.0.0.1:9000/weir',
    want: { secure: false, host: '127.0.0.1', port: 9000, bucket: 'weir', region: 'us-east-1' },
    hostHeader: '127.0.0.1:9000',
  },
  {
    url: 's3+https://K%2B1:a%2Fb%3D@s3.eu-west-1.amazonaws.com/my.bucket?region=eu-west-1',
    want: { secure: true, port: 443, accessKey: 'K+1', secretKey: 'a/b=', region: 'eu-west-1' },
    hostHeader: 's3.eu-west-1.amazonaws.com',
  },
  {
    url: 's3+http://k:s@[::1]:9000/weir',
    want: { host: '::1', port: 9000 },
    hostHeader: '[::1]:9000',
  },
];

const refused = [
  { url: '', why: 'must begin with file:' },
  { url: 'postgres://u:hush@h/db', why: 'must begin with file:' },
  { url: 'file:relative/path', why: 'file:///absolute/path' },
  { url: 'file://host/path', why: 'file:///absolute/path' },
  { url: 'file:///', why: 'file:///absolute/path' },
  { url: 'file:///data?x=1', why: 'file:///absolute/path' },
  { url: 's3+http://127.0.0.1:9000/weir', why: 'the key or the secret is missing' },
  { url: 's3+http://k@127.0.0.1:9000/weir', why: 'the key or the secret is missing' },
  { url: 's3+http://k:hush@127.0.0.1:9000/', why: 'the bucket is not a name' },
  { url: 's3+http://k:hush@127.0.0.1:9000/a/b', why: 'the bucket is not a name' },
  { url: 's3+http://k:hush@127.0.0.1:9000/BIG', why: 'the bucket is not a name' },
  { url: 's3+http://k:hush@127.0.0.1:99999/weir', why: 'it is not a URL' },
  { url: 's3+http://k:hush%@127.0.0.1:9000/weir', why: 'percent-encoded' },
  { url: 's3+http://k:hush@127.0.0.1:9000/weir?tls=no', why: '"tls" is not an option' },
  { url: 's3+http://k:hush@127.0.0.1:9000/weir?region=a%20b', why: 'the region is not a name' },
];

describe('the URL of an artifact store', () => {
  test.each(addresses)('is understood: $url', ({ url, want, ...rest }) => {
    const address = parseS3Address(url);
    expect(address).toMatchObject(want);
    expect(hostHeader(address)).toBe(rest.hostHeader);
  });

  test.each([
    { url: 'file:///var/lib/weir/artifacts', kind: 'files' },
    { url: 's3+http://k:s@127.0.0.1:9000/weir', kind: 's3' },
    { url: 's3+https://k:s@store.example/weir', kind: 's3' },
  ])('chooses the store: $url', async ({ url, kind }) => {
    const store = openArtifacts(url);
    expect(store.kind).toBe(kind);
    await store.close();
  });

  test.each(refused)('is refused in one line without the secret: $url', ({ url, why }) => {
    const message = messageOf(() => openArtifacts(url));
    expect(message).toContain(why);
    expect(message).not.toMatch(/\n|hush/);
  });
});

function messageOf(work: () => unknown): string {
  try {
    work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('it was accepted');
}
