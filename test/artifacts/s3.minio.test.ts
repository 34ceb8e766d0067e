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
import { segmentName } from '../../src/artifacts/object-name.ts';
import { parseS3Address } from '../../src/artifacts/s3/address.ts';
import { S3Store } from '../../src/artifacts/s3/store.ts';
import { artifactContract } from '../contract/artifacts.ts';
import { ensureMinio, type Minio, minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { bodyOf, failure, namesIn, newObject, put, readAll, sha256, writeAll } from './bodies.ts';
import { someMeta } from './some-meta.ts';
import { childBodyBytes } from './upload-child.ts';

const run = promisify(execFile);

describeWith('the S3 store on MinIO', await minioOrSkip(), () => {
  let minio: Minio;
  beforeAll(async () => {
    minio = await startMinio();
  });
  afterAll(() => minio.stop());

  artifactContract(async () => minio.url(`weir-${randomUUID()}`));
  describe('what the store verifies', () => verified(() => minio));
  describe('a store that goes away', () => goneStore(() => minio));
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

async function openStore(minio: Minio, limits = {}): Promise<S3Store> {
  const store = new S3Store(parseS3Address(minio.url(`weir-${randomUUID()}`)), limits);
  await store.prepare();
  return store;
}

function verified(minio: () => Minio): void {
  test('a wrong SHA-256 stores nothing', async () => {
    const store = await openStore(minio());
    const body = bodyOf('any', 300_000);
    const upload = store.begin(newObject(), body.length, someMeta());
    await writeAll(upload, body);
    const error = await failure(upload.commit(sha256(Buffer.from('other'))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('XAmzContentChecksumMismatch');
    expect(await namesIn(store)).toEqual([]);
    await store.close();
  });

  test('a segment with a wrong SHA-256 stores nothing', async () => {
    const store = await openStore(minio());
    const upload = store.begin(segmentName(newObject()), 3, null);
    await upload.write(Buffer.from('abc'));
    const error = await failure(upload.commit(sha256(Buffer.from('abd'))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('answered 400');
    expect(await namesIn(store)).toEqual([]);
    await store.close();
  });

  test('a body that a wrong key signed is refused with the reason of the store', async () => {
    const address = parseS3Address(minio().url(`weir-${randomUUID()}`));
    await openStore(minio());
    const store = new S3Store({ ...address, secretKey: 'not the secret' });
    const upload = store.begin(newObject(), 1_000, someMeta());
    await upload.write(Buffer.alloc(1_000));
    const error = await failure(upload.commit(sha256(Buffer.alloc(1_000))));
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('SignatureDoesNotMatch');
    expect(await failure(store.ping())).toBeInstanceOf(StoreAway);
    await store.close();
  });

  test('uploads beyond the number allowed at once wait and are all stored', async () => {
    const store = await openStore(minio(), { atOnce: 3 });
    const objects = Array.from({ length: 20 }, newObject);
    await Promise.all(objects.map((object) => put(store, bodyOf(object, 5_000), object)));
    expect(await namesIn(store)).toEqual(objects.sort());
    await store.close();
  });

  test('a bucket that is not there answers no ping', async () => {
    const store = new S3Store(parseS3Address(minio().url(`weir-${randomUUID()}`)));
    const error = await failure(store.ping());
    expect(error).toBeInstanceOf(StoreAway);
    expect(error.message).toContain('is not there');
    await store.close();
  });
}

function goneStore(minio: () => Minio): void {
  test('fails what is under way and what is new, and serves again when it is back', async () => {
    const store = await openStore(minio());
    const body = bodyOf('any', 100_000);
    const kept = await put(store, body);
    const upload = store.begin(newObject(), body.length, someMeta());
    await upload.write(body.subarray(0, 50_000));
    await minio().kill();
    const place = { object: kept.object, offset: 0, length: body.length };
    const under = upload.write(body.subarray(50_000)).then(() => upload.commit(sha256(body)));
    const failures = await Promise.all([
      failure(under),
      failure(put(store, body)),
      failure(readAll(store, place)),
      failure(store.contents(kept.object)),
      failure(store.remove(kept.object)),
      failure(namesIn(store)),
      failure(store.ping()),
      failure(store.prepare()),
    ]);
    for (const error of failures) {
      expect(error).toBeInstanceOf(StoreAway);
      expect(error.cause).toBeDefined();
    }
    await minio().restart();
    expect((await readAll(store, place)).equals(body)).toBe(true);
    const again = await put(store, body);
    expect(await namesIn(store)).toEqual([kept.object, again.object].sort());
    await store.close();
  });

  test('fails within the deadlines when it only stops answering', async () => {
    const limits = { responseMs: 300, silenceMs: 300, pingMs: 300 };
    const store = await openStore(minio(), limits);
    const body = bodyOf('any', 10_000);
    const { object } = await put(store, body);
    const upload = store.begin(newObject(), body.length, someMeta());
    await upload.write(body);
    await minio().pause();
    try {
      const began = performance.now();
      const failures = await Promise.all([
        failure(upload.commit(sha256(body))),
        failure(put(store, body)),
        failure(readAll(store, { object, offset: 0, length: body.length })),
        failure(store.ping()),
      ]);
      for (const error of failures) expect(error).toBeInstanceOf(StoreAway);
      expect(performance.now() - began).toBeLessThan(2_000);
    } finally {
      minio().resume();
    }
    expect((await readAll(store, { object, offset: 0, length: 10_000 })).equals(body)).toBe(true);
    await store.close();
  });
}
