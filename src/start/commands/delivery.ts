import { createHash } from 'node:crypto';
import { createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { Command, InvalidArgumentError } from 'commander';
import { type Catalog, CatalogRefusal } from '../../catalog/catalog.ts';
import { limits } from '../../domain/limits.ts';
import type { Delivery } from '../../domain/nouns.ts';
import type { SampleStore } from '../../samples/samples.ts';
import { deliveryView } from '../../serve/deliveries.ts';
import { acting, answering, group, id } from '../command.ts';
import type { Settings } from '../settings.ts';

const listPage = 1_000;
const rejectionsPage = 10_000;

interface ShowOptions {
  readonly rejections?: string;
}

export function deliveryCommands(): Command {
  const list = new Command('list')
    .description('list the deliveries of a source, newest first')
    .argument('<source>', 'the source id', id)
    .option('--limit <n>', 'how many at most; all by default', count);
  const show = new Command('show')
    .description('show what became of a delivery')
    .argument('<artifact>', 'the artifact id', id)
    .option('--rejections <file>', 'write every rejection to a file, one JSON object a line');
  const download = new Command('download')
    .description('write the stored bytes of a delivery to a file or to stdout')
    .argument('<artifact>', 'the artifact id', id)
    .option('--out <file>', 'the file; stdout by default');
  return group('delivery', 'deliveries', [
    answering(list, ({ catalog }, sourceId: string, options: { limit?: number }) =>
      listAll(catalog, sourceId, options.limit ?? Infinity),
    ),
    answering(show, ({ settings, catalog }, artifactId: string, options: ShowOptions) =>
      showOne(settings, catalog, artifactId, options),
    ),
    acting(download, ({ settings, catalog }, artifactId: string, options: { out?: string }) =>
      downloadOne(settings, catalog, artifactId, options),
    ),
  ]);
}

function count(text: string): number {
  if (!/^[0-9]{1,9}$/.test(text)) throw new InvalidArgumentError('a whole number');
  return Number(text);
}

async function listAll(catalog: Catalog, sourceId: string, limit: number) {
  const found: object[] = [];
  let before: number | undefined;
  while (found.length < limit) {
    const page = await catalog.deliveries.list(sourceId, {
      limit: Math.min(listPage, limit - found.length),
      ...(before === undefined ? {} : { before }),
    });
    if (page.length === 0) break;
    found.push(...page.map(listEntry));
    before = page.at(-1)!.sequence;
  }
  return found;
}

function listEntry(delivery: Delivery) {
  return {
    artifact_id: delivery.artifactId,
    received_at: new Date(delivery.receivedAt).toISOString(),
    status: delivery.status,
    sandbox: delivery.sandbox,
    shape_version: delivery.shapeVersion,
    bytes: delivery.bytes,
    records: delivery.counts?.records ?? 0,
    rejected: delivery.counts?.rejected ?? 0,
    samples: delivery.counts?.samples ?? 0,
    sha256: delivery.sha256,
  };
}

async function deliveryOf(catalog: Catalog, artifactId: string): Promise<Delivery> {
  const delivery = await catalog.deliveries.byArtifact(artifactId);
  if (!delivery) {
    throw new CatalogRefusal('delivery_not_found', `there is no delivery ${artifactId}`);
  }
  return delivery;
}

async function showOne(
  settings: Settings,
  catalog: Catalog,
  artifactId: string,
  options: ShowOptions,
) {
  const delivery = await deliveryOf(catalog, artifactId);
  const opened = delivery.counts?.rejected ? await openSamplesOf(settings) : null;
  try {
    const samples = opened?.store ?? noRejections;
    if (options.rejections) await exportRejections(samples, delivery, options.rejections);
    const view = await deliveryView(delivery, samples, limits.rejectionsShownMax);
    const damaged = await catalog.upkeep.damage(artifactId);
    return damaged === null ? view : { ...view, damaged };
  } finally {
    await opened?.close();
  }
}

/** Loaded only where it is needed: the small commands would wait for it otherwise. */
async function openSamplesOf(settings: Settings) {
  const [{ pino }, stores] = await Promise.all([import('pino'), import('../stores.ts')]);
  return stores.openCommandSamples(settings, pino({ level: 'silent' }));
}

/** A delivery without rejected records needs no ClickHouse to be shown. */
const noRejections: Pick<SampleStore, 'rejections'> = { rejections: async () => [] };

async function exportRejections(
  samples: Pick<SampleStore, 'rejections'>,
  delivery: Delivery,
  path: string,
): Promise<void> {
  async function* lines() {
    if (delivery.refusal) yield `${JSON.stringify(delivery.refusal)}\n`;
    const { artifactId, generation } = delivery;
    for (let offset = 0; ; offset += rejectionsPage) {
      const page = await samples.rejections({
        artifactId,
        generation,
        limit: rejectionsPage,
        offset,
      });
      for (const rejection of page) yield `${JSON.stringify(rejection)}\n`;
      if (page.length < rejectionsPage) return;
    }
  }
  await pipeline(lines, createWriteStream(path));
}

async function downloadOne(
  settings: Settings,
  catalog: Catalog,
  artifactId: string,
  options: { out?: string },
): Promise<void> {
  const delivery = await deliveryOf(catalog, artifactId);
  const { openArtifacts } = await import('../../artifacts/open.ts');
  const artifacts = openArtifacts(settings.artifactsUrl);
  try {
    const bytes = await artifacts.read(delivery.place);
    const hash = createHash('sha256');
    const hashed = async function* (pieces: AsyncIterable<Buffer>) {
      for await (const piece of pieces) {
        hash.update(piece);
        yield piece;
      }
    };
    if (options.out) await pipeline(bytes, hashed, createWriteStream(options.out));
    else await pipeline(bytes, hashed, process.stdout, { end: false });
    const found = hash.digest('hex');
    if (found === delivery.sha256) return;
    throw new Error(
      `the stored bytes of ${artifactId} are damaged, and were written all the same: ` +
        `their SHA-256 is ${found}, that of the receipt ${delivery.sha256}`,
    );
  } finally {
    await artifacts.close();
  }
}
