import { mkdir, open, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Client } from 'minio';
import { v7 as uuid } from 'uuid';

/** Where the ordinary service keeps bodies; what `put` resolved for is durable. */
export interface BodyStore {
  put(id: string, body: Buffer, about: Readonly<Record<string, string>>): Promise<void>;
}

export interface MinioOptions {
  readonly kind: 'minio';
  readonly host: string;
  readonly port: number;
  readonly accessKey: string;
  readonly secretKey: string;
  readonly bucket: string;
}

export interface FileOptions {
  readonly kind: 'files';
  readonly directory: string;
}

export type StoreOptions = MinioOptions | FileOptions;

export function openStore(options: StoreOptions): BodyStore {
  return options.kind === 'minio' ? minioStore(options) : fileStore(options.directory);
}

/** Bodies as objects, put by the client that everybody uses. */
function minioStore({ host, port, accessKey, secretKey, bucket }: MinioOptions): BodyStore {
  const region = 'us-east-1';
  const client = new Client({
    ...{ endPoint: host, port, useSSL: false, accessKey, secretKey, region },
  });
  return {
    async put(id, body, about) {
      await client.putObject(bucket, id, body, body.length, about);
    },
  };
}

/** Bodies as files: written beside, synced, renamed, and the directory synced. */
function fileStore(root: string): BodyStore {
  const made = new Map<string, Promise<unknown>>();
  const ensure = (directory: string) => {
    const known = made.get(directory) ?? mkdir(directory, { recursive: true });
    made.set(directory, known);
    return known;
  };
  return {
    async put(id, body) {
      const path = join(root, new Date().toISOString().slice(0, 10), id);
      await ensure(dirname(path));
      const temp = `${path}.${uuid()}`;
      const file = await open(temp, 'wx');
      try {
        await file.writeFile(body);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temp, path);
      const directory = await open(dirname(path), 'r');
      try {
        await directory.sync();
      } finally {
        await directory.close();
      }
    },
  };
}
