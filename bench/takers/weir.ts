import { buffer } from 'node:stream/consumers';
import type { DeliveryWay } from '../../src/domain/nouns.ts';
import { sharedMinio } from '../world/stores.ts';
import { type BenchWeir, sharedWeir } from '../world/weir.ts';
import type { World } from '../world/world.ts';
import type { Taker } from './taker.ts';

/** `held`: nothing is parsed beside what is timed. */
export type Parsing = 'held' | 'beside';

/** A weir on MinIO that the cases of the group share. */
export async function weirOnMinio(world: World, parsing: Parsing): Promise<BenchWeir> {
  const minio = await sharedMinio(world);
  const weir = await sharedWeir(world, `minio ${parsing}`, async () => ({
    WEIR_ARTIFACTS_URL: minio.url(`weir-${parsing}`),
  }));
  if (parsing === 'held') await weir.holdParsing(world.size !== 'tiny');
  return weir;
}

/** A weir on its embedded defaults. */
export async function weirOnFiles(world: World, parsing: Parsing): Promise<BenchWeir> {
  const weir = await sharedWeir(world, `files ${parsing}`);
  if (parsing === 'held') await weir.holdParsing(world.size !== 'tiny');
  return weir;
}

/** A new source of a weir, as somebody who takes deliveries. */
export async function weirTaker(weir: BenchWeir, delivery: DeliveryWay): Promise<Taker> {
  const { key } = await weir.source(delivery);
  const { catalog, artifacts } = weir.test;
  return {
    target: { kind: 'ingest', port: weir.port, keys: [key] },
    pid: weir.pid,
    async stored({ text }) {
      const { artifact_id: id } = JSON.parse(text) as { artifact_id: string };
      const kept = await catalog.deliveries.byArtifact(id);
      if (!kept) throw new Error(`the catalog does not know ${id}`);
      return buffer(await artifacts.read(kept.place));
    },
  };
}
