import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { v7 } from 'uuid';
import type { Catalog, Claim, NewKey, NewSecret, NewSource } from '../../src/catalog/catalog.ts';
import { sqliteUrl } from '../../src/catalog/open.ts';
import type { Counts, Field } from '../../src/domain/nouns.ts';

/** A folder of its own with the address of a catalog in it. */
export async function tempCatalog() {
  const folder = await mkdtemp(join(tmpdir(), 'weir catalog '));
  const path = join(folder, 'catalog.db');
  return {
    path,
    url: sqliteUrl(path),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

export const wideFields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'seen', role: 'value', metric: 'visits' },
];

export async function seedCompany(catalog: Catalog, name = 'Weir & Sons') {
  const company = { companyId: randomUUID(), name, timezone: 'Europe/Berlin' };
  await catalog.directory.createCompany(company, 1_000);
  const visits = { key: 'visits', name: 'Visits', unit: 'people', labels: [] };
  await catalog.directory.declareMetric(company.companyId, visits, 1_001);
  return company;
}

export function newSource(companyId: string, over: Partial<NewSource> = {}): NewSource {
  return {
    sourceId: randomUUID(),
    companyId,
    name: 'Shop',
    delivery: 'push',
    format: 'csv',
    fields: wideFields,
    savedBy: 'ada@example.com',
    ...over,
  };
}

/** A secret as the catalog keeps it: it never looks into the sealed bytes. */
export function newSecret(): NewSecret {
  return { secretId: randomUUID(), sealed: randomBytes(78) };
}

export function newKey(sourceId: string, over: Partial<NewKey> = {}): NewKey {
  const hash = randomBytes(32);
  const keyId = randomUUID();
  return { keyId, sourceId, hash, scope: 'read_write', sandbox: false, expiresAt: 9_000, ...over };
}

/** A company with the metric `visits` and one source, a push source by default. */
export async function seedSource(catalog: Catalog, over: Partial<NewSource> = {}) {
  const company = await seedCompany(catalog);
  const source = await catalog.directory.createSource(newSource(company.companyId, over), 1_002);
  return { company, companyId: company.companyId, sourceId: source.sourceId };
}

export function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}

/** A claim that is unlike any other, but for what `over` says. */
export function claimFor(sourceId: string, over: Partial<Claim> = {}): Claim {
  const artifactId = v7();
  return {
    sourceId,
    sandbox: false,
    idempotencyKey: randomUUID(),
    sha256: randomBytes(32),
    artifactId,
    shapeVersion: 1,
    delivery: 'push',
    mediaType: 'application/json',
    encoding: 'identity',
    bytes: 100,
    receivedAt: 5_000,
    place: { object: `2026/11/20/${artifactId}`, offset: 0, length: 100 },
    secretId: null,
    ...over,
  };
}

/** Records a claim that is expected to be stored, and gives its sequence. */
export async function store(catalog: Catalog, claim: Claim): Promise<number> {
  const verdict = await catalog.ledger.record(claim);
  if (verdict.outcome !== 'stored') throw new Error(`not stored: ${JSON.stringify(verdict)}`);
  return verdict.sequence;
}

export const oneSample: Counts = {
  records: 1,
  parsed: 1,
  rejected: 0,
  samples: 1,
  blank: 0,
  supersededWithin: 0,
};
