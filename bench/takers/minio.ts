import { buffer } from 'node:stream/consumers';
import { sharedMinio } from '../world/stores.ts';
import type { World } from '../world/world.ts';
import type { Taker } from './taker.ts';

/**
 * MinIO by itself: what one PUT costs without any service before it.
 *
 * @param hashed MinIO is given the SHA-256 of each body and checks it, as weir has it do
 */
export async function minioTaker(world: World, hashed = false): Promise<Taker> {
  const minio = await sharedMinio(world);
  const address = await minio.bucket('direct');
  return {
    target: { kind: 'put', address, hashed },
    pid: null,
    async stored({ path }) {
      const object = path.slice(`/${address.bucket}/`.length);
      return buffer(await minio.client().getObject(address.bucket, object));
    },
  };
}
