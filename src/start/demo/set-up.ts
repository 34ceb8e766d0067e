import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openCatalog, sqliteUrl } from '../../catalog/open.ts';
import type { SourceAccess } from './client.ts';
import type { RunningWeir } from './running-weir.ts';
import { demoTimezone, type Series } from './series.ts';

/**
 * Sets a company up beside the running service: metrics through the catalog, since a command for
 * each of thirty would take longer than all the rest; company, sources and keys by the command
 * line, as an operator does.
 *
 * @returns what each series' customer knows, in the order of the series
 */
export async function setUp(weir: RunningWeir, all: readonly Series[]): Promise<SourceAccess[]> {
  const company = await weir.cli<{ company_id: string }>(
    ...['company', 'create', '--name', 'Demo', '--timezone', demoTimezone],
  );
  await declareMetrics(weir, company.company_id, all);
  return Promise.all(all.map((series) => createSource(weir, company.company_id, series)));
}

async function declareMetrics(weir: RunningWeir, companyId: string, all: readonly Series[]) {
  const path = join(weir.place.dataDir, 'catalog.db');
  const catalog = await openCatalog(sqliteUrl(path), { thread: false });
  try {
    for (const { metrics, labels } of all) {
      for (const { key, unit } of metrics) {
        const metric = { key, name: key.replaceAll('_', ' '), unit, labels };
        await catalog.directory.declareMetric(companyId, metric, Date.now());
      }
    }
  } finally {
    await catalog.close();
  }
}

async function createSource(
  weir: RunningWeir,
  companyId: string,
  series: Series,
): Promise<SourceAccess> {
  const { title, delivery, format, fields } = series;
  const shape = join(weir.place.dataDir, `${series.metrics[0]!.key}.shape.json`);
  writeFileSync(shape, JSON.stringify({ fields }));
  const source = await weir.cli<{ source_id: string; signing_secret?: string }>(
    ...['source', 'create', '--company', companyId, '--name', title],
    ...['--delivery', delivery, '--format', format, '--shape', shape],
  );
  // A webhook source takes signed deliveries only; its key reads.
  const scope = delivery === 'webhook' ? 'read' : 'read_write';
  const key = await weir.cli<{ access_key: string }>(
    ...['key', 'create', source.source_id, '--scope', scope],
  );
  return {
    url: weir.url,
    sourceId: source.source_id,
    accessKey: key.access_key,
    signingSecret: source.signing_secret ?? null,
  };
}
