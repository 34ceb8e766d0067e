import { Client } from 'minio';
import { parseS3Address, type S3Address } from '../../src/artifacts/s3/address.ts';
import { startMinio } from '../../test/support/minio.ts';
import type { World } from './world.ts';

/** The bench's MinIO. */
export interface BenchMinio {
  /** As `WEIR_ARTIFACTS_URL`, of a bucket. */
  url(bucket: string): string;
  /** Of a bucket that is there. */
  bucket(name: string): Promise<S3Address>;
  client(): Client;
  readonly pid: number;
}

export function sharedMinio(world: World): Promise<BenchMinio> {
  return world.once('minio', async () => {
    const minio = await startMinio();
    const client = () => clientOf(parseS3Address(minio.url('any')));
    const value: BenchMinio = {
      url: (bucket) => minio.url(bucket),
      async bucket(name) {
        if (!(await client().bucketExists(name))) await client().makeBucket(name);
        return parseS3Address(minio.url(name));
      },
      client,
      pid: minio.pid(),
    };
    return { value, stop: () => minio.stop() };
  });
}

function clientOf({ host, port, secure, accessKey, secretKey, region }: S3Address): Client {
  return new Client({ endPoint: host, port, useSSL: secure, accessKey, secretKey, region });
}
