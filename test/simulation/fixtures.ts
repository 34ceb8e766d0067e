import { createHash, randomBytes } from 'node:crypto';
import { writesThrough } from '../../src/catalog/writes.ts';
import type { DeliveryWay, Field, Metric } from '../../src/domain/nouns.ts';
import { formatSecret, sealNonceBytes, sealSecret } from '../../src/domain/secrets.ts';
import type { CatalogBed } from './catalog-bed.ts';

/** What every run finds declared. Ids are the same each time, so that runs are. */
export const companyId = '00000000-0000-4000-8000-00000000c000';
export const secretKey = Buffer.alloc(32, 7);
export const secret = formatSecret(Buffer.alloc(32, 9));
export const dummySecret = sealed('00000000-0000-4000-8000-00000000d000');

export interface DeclaredSource {
  readonly sourceId: string;
  readonly way: DeliveryWay;
}

export const sources = {
  push: { sourceId: '00000000-0000-4000-8000-000000000001', way: 'push' },
  document: { sourceId: '00000000-0000-4000-8000-000000000002', way: 'document' },
  webhook: { sourceId: '00000000-0000-4000-8000-000000000003', way: 'webhook' },
} as const satisfies Record<string, DeclaredSource>;

export type SourceName = keyof typeof sources;

export function sourceNameOf(sourceId: string): SourceName {
  const names = Object.keys(sources) as SourceName[];
  return names.find((name) => sources[name].sourceId === sourceId)!;
}

export const metrics: readonly Metric[] = [
  { key: 'visits', name: 'Visits', unit: '1', labels: [] },
  { key: 'sales', name: 'Sales', unit: '1', labels: ['who'] },
];

/**
 * Two versions of each shape, over the same names: `day` and `a` are period and value of the first
 * one, `later` and `b` those of the second.
 */
function fieldsOf(way: DeliveryWay, version: 1 | 2): Field[] {
  const [period, value] = version === 1 ? ['day', 'a'] : ['later', 'b'];
  const others = version === 1 ? ['later', 'b'] : ['day', 'a'];
  const metric = way === 'document' ? 'sales' : 'visits';
  return [
    { name: period!, role: 'period' },
    ...(way === 'document' ? [{ name: 'who', role: 'label' } as const] : []),
    { name: value!, role: 'value', metric },
    ...others.map((name) => ({ name })),
  ];
}

/** Each source has a key, those whose deliveries may be sandbox have one more. */
export function keyOf(source: SourceName, sandbox: boolean): string {
  return `wk_${sandbox ? 'test' : 'live'}_${source}`;
}

/** All of them, as the catalog knows them. */
export function accessKeys() {
  return Object.entries(sources).flatMap(([name, { sourceId, way }], i) =>
    (way === 'webhook' ? [false] : [false, true]).map((sandbox) => {
      const key = keyOf(name as SourceName, sandbox);
      const hash = createHash('sha256').update(key).digest();
      const keyId = `00000000-0000-4000-8000-0000000f0${i}0${Number(sandbox)}`;
      return { keyId, sourceId, hash, scope: 'read_write' as const, sandbox };
    }),
  );
}

function sealed(secretId: string) {
  const nonce = randomBytes(sealNonceBytes);
  return { secretId, sealed: sealSecret(secretKey, nonce, secretId, secret) };
}

/** Declares company, metrics, sources in two versions, keys and a signing secret. */
export async function declare(bed: Pick<CatalogBed, 'call'>, now: number): Promise<void> {
  const { directory } = writesThrough((call) => bed.call(call));
  await directory.createCompany({ companyId, name: 'C', timezone: 'UTC' }, now);
  for (const metric of metrics) await directory.declareMetric(companyId, metric, now);
  for (const [i, [name, { sourceId, way }]] of Object.entries(sources).entries()) {
    const about = { name, delivery: way, format: 'csv', savedBy: 'test' } as const;
    const own = sealed(`00000000-0000-4000-8000-00000000e00${i}`);
    const fields = fieldsOf(way, 1);
    const withSecret = way === 'webhook' ? { secret: own } : {};
    await directory.createSource({ sourceId, companyId, fields, ...about, ...withSecret }, now);
    await directory.saveSource(sourceId, { fields: fieldsOf(way, 2), savedBy: 'test' }, now);
  }
  for (const key of accessKeys()) {
    await directory.createKey({ ...key, expiresAt: now + 1e12 }, now);
  }
}
