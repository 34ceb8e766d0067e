import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { parseS3Address } from '../../src/artifacts/s3/address.ts';
import { amzDate, authorization } from '../../src/artifacts/s3/sign.ts';
import { startMinio } from './minio.ts';
import type { S3Server } from './s3-server.ts';

/** A MinIO whose objects lie on four drives, any two of which hold all that was acknowledged. */
export interface MinioDrives extends S3Server {
  /** Takes a drive away, by its number from 0. MinIO looks for its drives once a second. */
  lose(drive: number): Promise<void>;
  /** Gives it back as it was. */
  giveBack(drive: number): Promise<void>;
  /** Whether there are drives enough, to write or only to read. */
  hasDrivesTo(what: 'write' | 'read'): Promise<boolean>;
  /** Begins to write what drives lack, as `mc admin heal --recursive` does. */
  heal(bucket: string): Promise<void>;
  /** The objects of a bucket that a drive has a share of, sorted. */
  objectsOn(drive: number, bucket: string): Promise<string[]>;
}

export async function startMinioDrives(): Promise<MinioDrives> {
  const home = await mkdtemp(join(tmpdir(), 'weir-drives-'));
  const dirs = [1, 2, 3, 4].map((number) => join(home, `drive${number}`));
  for (const dir of dirs) await mkdir(dir);
  const minio = await startMinio({ dirs });
  const origin = `http://127.0.0.1:${minio.port}`;
  return {
    ...minio,
    async lose(drive) {
      await rename(dirs[drive]!, `${dirs[drive]}.lost`);
      // In its place, so that MinIO makes no new drive there.
      await writeFile(dirs[drive]!, '');
    },
    async giveBack(drive) {
      await rm(dirs[drive]!);
      await rename(`${dirs[drive]}.lost`, dirs[drive]!);
    },
    async hasDrivesTo(what) {
      const path = what === 'read' ? 'cluster/read' : 'cluster';
      return (await fetch(`${origin}/minio/health/${path}`)).ok;
    },
    heal: (bucket) => heal(minio.url(bucket)),
    async objectsOn(drive, bucket) {
      const files = await readdir(join(dirs[drive]!, bucket), { recursive: true });
      return files
        .filter((name) => name.endsWith('/xl.meta'))
        .map(dirname)
        .sort();
    },
    async stop() {
      await minio.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

/** @param url of the bucket */
async function heal(url: string): Promise<void> {
  const address = parseS3Address(url);
  const path = `/minio/admin/v3/heal/${address.bucket}`;
  const body = JSON.stringify({ recursive: true, scanMode: 2 });
  const payload = createHash('sha256').update(body).digest('hex');
  const date = amzDate(Date.now());
  const host = `${address.host}:${address.port}`;
  const signed = { host, 'x-amz-content-sha256': payload, 'x-amz-date': date };
  const request = { method: 'POST', path, headers: signed, payload };
  const headers = { ...signed, authorization: authorization(request, address, date) };
  const answer = await fetch(`http://${host}${path}`, { method: 'POST', headers, body });
  if (!answer.ok) throw new Error(`MinIO heals not: ${answer.status} ${await answer.text()}`);
}
