import { execFile, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { StoreAway } from '../../src/artifacts/artifacts.ts';
import { parseS3Address } from '../../src/artifacts/s3/address.ts';
import { S3Store } from '../../src/artifacts/s3/store.ts';
import { artifactContract } from '../contract/artifacts.ts';
import { ensureMinio, type Minio, minioOrSkip, startMinio } from '../support/minio.ts';
import { type MinioDrives, startMinioDrives } from '../support/minio-drives.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { bodyOf, failure, namesIn, put, readAll } from './bodies.ts';
import { goneStore, verified } from './s3-servers.ts';
import { childBodyBytes } from './upload-child.ts';

const run = promisify(execFile);

const minioThere = await minioOrSkip();

describeWith('the S3 store on MinIO', minioThere, () => {
  let minio: Minio;
  beforeAll(async () => {
    minio = await startMinio();
  });
  afterAll(() => minio.stop());

  artifactContract(async () => minio.url(`weir-${randomUUID()}`));
  const says = { wrongTrailer: 'XAmzContentChecksumMismatch', wrongHash: 'answered 400' };
  describe('what the store verifies', () => verified(() => minio, says));
  describe('a store that goes away', () => goneStore(() => minio));
});

describeWith('the S3 store on three of four drives', minioThere, () => {
  let minio: MinioDrives;
  beforeAll(async () => {
    minio = await startMinioDrives();
    await minio.lose(1);
  });
  afterAll(() => minio.stop());

  artifactContract(async () => minio.url(`weir-${randomUUID()}`));
});

/** A certificate of its own for 127.0.0.1, and a directory for data beside it. */
const certificate = await need('MinIO with TLS', async () => {
  await ensureMinio();
  const home = await mkdtemp(join(tmpdir(), 'weir-tls-'));
  const files = ['-keyout', join(home, 'private.key'), '-out', join(home, 'public.crt')];
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const name = ['-subj', '/CN=weir', '-addext', 'subjectAltName=IP:127.0.0.1'];
  await run('openssl', ['req', '-x509', '-days', '2', ...curve, ...files, ...name]);
  return home;
});

describeWith('the S3 store over TLS', certificate, (home) => {
  const bucket = `weir-${randomUUID()}`;
  const dir = join(home, 'data');
  const child = fileURLToPath(new URL('./upload-child.ts', import.meta.url));
  const options = { stdio: ['ignore', 'pipe', 'inherit'] as ['ignore', 'pipe', 'inherit'] };
  afterAll(() => rm(home, { recursive: true }));

  test('stores what it stores without, by a certificate that Node trusts', async () => {
    const secure = await startMinio({ dir, certs: home });
    // The authorities that Node trusts are read at its start: so a process of its own.
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(home, 'public.crt') };
    const args = [child, secure.url(bucket), 'commits'];
    const uploader = spawn(process.execPath, args, { ...options, env });
    const [said] = (await once(uploader.stdout, 'data')) as [Buffer];
    await sleep(300);
    uploader.kill('SIGKILL');
    const distrusting = new S3Store(parseS3Address(secure.url(bucket)));
    expect(await failure(put(distrusting, Buffer.alloc(1)))).toBeInstanceOf(StoreAway);
    expect(await failure(distrusting.ping())).toBeInstanceOf(StoreAway);
    await secure.stop();

    const plain = await startMinio({ dir });
    const store = new S3Store(parseS3Address(plain.url(bucket)));
    const objects = await namesIn(store);
    expect(objects).toContain(said.toString().split('\n')[0]);
    for (const object of objects) {
      const read = await readAll(store, { object, offset: 0, length: childBodyBytes });
      expect(read.equals(bodyOf(object, childBodyBytes))).toBe(true);
    }
    await plain.stop();
  });
});
