import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import type { S3Server } from '../support/s3-server.ts';
import { type SystemCall, straceOrSkip, trace } from '../support/strace.ts';
import { startVersity, versityOrSkip } from '../support/versitygw.ts';
import { bodyOf, put } from './bodies.ts';

const syncs = ['fsync', 'fdatasync', 'sync_file_range', 'syncfs', 'sync'];
const names = ['openat', 'linkat', 'renameat', 'renameat2'];
const [minio, versity] = [await minioOrSkip(), await versityOrSkip()];

/**
 * An S3 store's 200 is its word that a body outlives a loss of power, and no client can look
 * behind it. These are the words of the two that the tests run on; the README says so.
 */
describeWith('what stores sync before their 200', await straceOrSkip(), () => {
  describeWith('MinIO', minio, () => {
    test('a large body, and the file that holds a small one', async () => {
      const { large, small } = await syncsOf(startMinio);
      expect(large.filter((call) => /part\.1>/.test(call.text))).toHaveLength(1);
      expect(small.filter((call) => /xl\.meta.*O_DSYNC/.test(call.text))).toHaveLength(1);
    });
  });

  describeWith('versitygw', versity, () => {
    test('nothing: what it took is lost with the power, unless its file system syncs', async () => {
      expect(await syncsOf(startVersity)).toEqual({ large: [], small: [] });
    });
  });
});

/** What a store syncs of one body of 3 MB, and of one of 3 kB. */
async function syncsOf(start: () => Promise<S3Server>) {
  const server = await start();
  const dir = await mkdtemp(join(tmpdir(), 'weir-syncs-'));
  const store = openArtifacts(server.url('durable'));
  try {
    await store.prepare();
    const during = async (bytes: number): Promise<SystemCall[]> => {
      const tracing = await trace(server.pid(), [...syncs, ...names], join(dir, `${bytes}`), {
        textBytes: 400,
      });
      const { object } = await put(store, bodyOf('any', bytes));
      const calls = await tracing.stop();
      // The trace is of this upload: it holds the file's last part of the name, at least.
      expect(calls.some((call) => call.text.includes(object.slice(11)))).toBe(true);
      return calls.filter((call) => syncs.includes(call.name) || /O_D?SYNC/.test(call.text));
    };
    return { large: await during(3_000_000), small: await during(3_000) };
  } finally {
    await store.close();
    await server.stop();
    await rm(dir, { recursive: true });
  }
}
