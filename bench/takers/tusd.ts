import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { freePorts, isFree } from '../../src/start/demo/running-weir.ts';
import { ensureGoBinary } from '../../test/support/go-binary.ts';
import { sharedMinio } from '../world/stores.ts';
import type { World } from '../world/world.ts';
import type { Taker } from './taker.ts';

/** As in `peers/tusd/go.mod`. */
const version = 'v2.8.0';

/** The path of tusd's binary. @throws Error one line when it cannot be had */
export function ensureTusd(): Promise<string> {
  return ensureGoBinary({
    ...{ name: 'tusd', version, takes: '2–3 minutes' },
    build: (bin) => ['build', '-o', `${bin}/tusd`, 'github.com/tus/tusd/v2/cmd/tusd'],
    cwd: fileURLToPath(new URL('../peers/tusd/', import.meta.url)),
  });
}

/** tusd, the reference server of resumable uploads, with its S3 store on MinIO. */
export async function tusdTaker(world: World): Promise<Taker> {
  const minio = await sharedMinio(world);
  const bucket = await minio.bucket('tusd');
  return world.once('tusd', async () => {
    const binary = await ensureTusd();
    const [port] = await freePorts(1);
    const child = spawn(
      binary,
      [
        ...['-host', '127.0.0.1', '-port', String(port), '-base-path', '/files/'],
        ...['-s3-bucket', bucket.bucket, '-s3-endpoint', `http://127.0.0.1:${bucket.port}`],
        ...['-verbose=false', '-show-greeting=false', '-expose-metrics=false', '-disable-cors'],
        // It would hash each part a second time for a store that can be reached without TLS.
        '-s3-disable-content-hashes',
      ],
      {
        env: {
          ...process.env,
          ...{ AWS_ACCESS_KEY_ID: bucket.accessKey, AWS_SECRET_ACCESS_KEY: bucket.secretKey },
          ...{ AWS_REGION: bucket.region },
        },
        stdio: 'ignore',
      },
    );
    const ended = once(child, 'exit');
    for (const end = Date.now() + 20_000; await isFree(port!); await sleep(25)) {
      if (child.exitCode !== null || Date.now() > end) throw new Error('tusd does not start');
    }
    const value: Taker = {
      target: { kind: 'tus', port: port! },
      pid: child.pid!,
      async stored({ headers }) {
        // …/files/<object>+<id of the upload in parts>
        const object = String(headers.location).split('/').at(-1)!.split('+')[0]!;
        return buffer(await minio.client().getObject(bucket.bucket, object));
      },
    };
    const stop = async () => {
      child.kill('SIGKILL');
      await ended;
    };
    return { value, stop };
  });
}
