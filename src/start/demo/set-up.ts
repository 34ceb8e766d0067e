import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { v7 as uuid } from 'uuid';
import type { Directory } from '../../catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../domain/keys.ts';
import type { SourceAccess } from './client.ts';
import type { RunningWeir } from './running-weir.ts';
import { demoTimezone, type Series } from './series.ts';

const keyLifetimeMs = 86_400_000;

export interface DemoCompany {
  readonly companyId: string;
  /** What each series' customer knows, in the order of the series. */
  readonly accesses: readonly SourceAccess[];
}

/**
 * Sets a company up beside the running service: company and sources by the command line, as an
 * operator does; the many metrics and keys in the catalog, since a command for each of them would
 * take longer than all the rest.
 */
export async function setUp(weir: RunningWeir, all: readonly Series[]): Promise<DemoCompany> {
  const { company_id } = await weir.cli<{ company_id: string }>(
    ...['company', 'create', '--name', 'Demo', '--timezone', demoTimezone],
  );
  const path = join(weir.place.dataDir, 'catalog.db');
  const catalog = await openCatalog(sqliteUrl(path), { thread: false });
  const { directory } = catalog;
  try {
    for (const series of all) await declareMetrics(directory, company_id, series);
    const sources = await Promise.all(all.map((series) => createSource(weir, company_id, series)));
    const accesses: SourceAccess[] = [];
    for (const [i, series] of all.entries()) {
      const { source_id: sourceId, signing_secret: signingSecret = null } = sources[i]!;
      const accessKey = await createKey(directory, sourceId, series);
      accesses.push({ url: weir.url, sourceId, accessKey, signingSecret });
    }
    return { companyId: company_id, accesses };
  } finally {
    await catalog.close();
  }
}

async function declareMetrics(directory: Directory, companyId: string, series: Series) {
  for (const { key, unit } of series.metrics) {
    const metric = { key, name: key.replaceAll('_', ' '), unit, labels: series.labels };
    await directory.declareMetric(companyId, metric, Date.now());
  }
}

function createSource(weir: RunningWeir, companyId: string, series: Series) {
  const { title, delivery, format, fields } = series;
  const shape = join(weir.place.dataDir, `${series.metrics[0]!.key}.shape.json`);
  writeFileSync(shape, JSON.stringify({ fields }));
  return weir.cli<{ source_id: string; signing_secret?: string }>(
    ...['source', 'create', '--company', companyId, '--name', title],
    ...['--delivery', delivery, '--format', format, '--shape', shape],
  );
}

/** A webhook source takes signed deliveries only: its key reads. */
async function createKey(directory: Directory, sourceId: string, series: Series): Promise<string> {
  const text = formatKey('live', randomBytes(keyRandomBytes));
  const hash = createHash('sha256').update(text).digest();
  const scope = series.delivery === 'webhook' ? 'read' : 'read_write';
  const now = Date.now();
  const expiresAt = now + keyLifetimeMs;
  await directory.createKey(
    { keyId: uuid(), sourceId, hash, scope, sandbox: false, expiresAt },
    now,
  );
  return text;
}
