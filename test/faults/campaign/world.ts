import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Catalog } from '../../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../../src/catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../../src/domain/keys.ts';
import type { Field } from '../../../src/domain/nouns.ts';
import { freePorts, RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { newSecret } from '../../../src/start/new-secret.ts';
import type { SecretKeySettings } from '../../../src/start/secret-key.ts';
import { type Minio, startMinio } from '../../support/minio.ts';
import type { Kind } from './bodies.ts';
import { type CatalogSeen, openCatalogSeen } from './catalog-seen.ts';
import type { OpenScope } from './post.ts';
import { type Servers, startServers } from './servers.ts';

/**
 * `files` and `minio`: one process with all else in its data directory, artifacts there or in a
 * MinIO. `servers`: two processes on Postgres, MinIO, Redis and an engine of its own.
 */
export const storeKinds = ['files', 'minio', 'servers'] as const;

export type StoreKind = (typeof storeKinds)[number];

/** Of a service on servers. */
export const processCount = 2;

/** Two companies with the same metrics and three sources each, a service on them, not started. */
export interface World {
  /** Everything of the run lies below it, but the data of Postgres. */
  readonly dir: string;
  readonly dataDir: string;
  /** Where the engine keeps its data and its address. */
  readonly engineDir: string;
  readonly weir: RunningWeir;
  readonly catalog: CatalogSeen;
  readonly minio: Minio | null;
  readonly servers: Servers | null;
  readonly artifactsUrl: string | null;
  readonly scopes: readonly OpenScope[];
  /** Ends what runs, and removes all of it, unless it is to be kept. */
  remove(how?: { readonly keep?: boolean }): Promise<void>;
}

const shapes: Record<Kind, { readonly metric: string; readonly labels: readonly string[] }> = {
  push: { metric: 'revenue', labels: [] },
  document: { metric: 'visits', labels: ['page'] },
  webhook: { metric: 'orders', labels: ['channel'] },
};

const kinds = Object.keys(shapes) as Kind[];

/** The companies' days begin at different times; what is sent names days, so nothing moves. */
const companies = { acme: 'Europe/Berlin', bolt: 'America/New_York' };

export async function makeWorld(store: StoreKind): Promise<World> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-campaign-'));
  const dataDir = join(dir, 'data');
  const servers = store === 'servers' ? await startServers(dir) : null;
  const alone = store === 'minio' ? await startMinio({ dir: join(dir, 'minio') }) : null;
  const minio = servers?.minio ?? alone;
  const artifactsUrl = minio?.url('campaign') ?? null;
  const catalogUrl = servers?.catalogUrl ?? sqliteUrl(join(dataDir, 'catalog.db'));
  const [api, app, ops] = await freePorts(3);
  const settings = {
    ...{ WEIR_RATE_PER_MINUTE: '1000000', WEIR_RATE_BURST: '1000000' },
    ...(artifactsUrl === null ? {} : { WEIR_ARTIFACTS_URL: artifactsUrl }),
    ...servers?.settings,
  };
  const args = servers ? ['--processes', String(processCount)] : [];
  const weir = new RunningWeir({ dataDir, api: api!, app: app!, ops: ops!, settings, args });
  if (servers === null) {
    // The start makes the data directory and the key that seals secrets.
    await weir.start();
    await weir.end();
  }
  const sealing = { dataDir, WEIR_SECRET_KEY: servers?.settings.WEIR_SECRET_KEY };
  const scopes = await declareAll(catalogUrl, sealing);
  return {
    ...{ dir, dataDir, engineDir: servers?.engineDir ?? dataDir },
    ...{ weir, catalog: openCatalogSeen(catalogUrl), minio, servers, artifactsUrl, scopes },
    async remove({ keep = false } = {}) {
      await weir.end('SIGKILL');
      await alone?.stop();
      await servers?.stop(keep ? join(dir, 'catalog.sql') : null);
      await writeFile(join(dir, 'service.log'), weir.log);
      if (keep) console.log(`kept: ${dir}`);
      else await rm(dir, { recursive: true, force: true, maxRetries: 20 });
    },
  };
}

async function declareAll(catalogUrl: string, sealing: SecretKeySettings): Promise<OpenScope[]> {
  const catalog = await openCatalog(catalogUrl, { thread: false });
  try {
    const scopes: OpenScope[] = [];
    for (const [name, timezone] of Object.entries(companies)) {
      const companyId = randomUUID();
      await catalog.directory.createCompany({ companyId, name, timezone }, Date.now());
      for (const kind of kinds) {
        const { metric: key, labels } = shapes[kind];
        const metric = { key, name: key, unit: 'one', labels };
        await catalog.directory.declareMetric(companyId, metric, Date.now());
        scopes.push(...(await declareSource(catalog, { companyId, company: name, kind, sealing })));
      }
    }
    return scopes;
  } finally {
    await catalog.close();
  }
}

interface SourcePlace {
  readonly companyId: string;
  readonly company: string;
  readonly kind: Kind;
  readonly sealing: SecretKeySettings;
}

async function declareSource(catalog: Catalog, place: SourcePlace): Promise<OpenScope[]> {
  const { companyId, company, kind, sealing } = place;
  const sourceId = randomUUID();
  const signing = kind === 'webhook' ? newSecret(sealing) : null;
  const about = { name: `${company} ${kind}`, delivery: kind, format: 'csv', savedBy: 'test' };
  await catalog.directory.createSource(
    {
      ...{ ...about, format: 'csv', sourceId, companyId, fields: fieldsOf(kind) },
      ...(signing === null ? {} : { secret: signing.secret }),
    },
    Date.now(),
  );
  const modes = kind === 'webhook' ? [false] : [false, true];
  return Promise.all(
    modes.map(async (sandbox) => ({
      ...{ name: `${company}/${kind}/${sandbox ? 'sandbox' : 'live'}`, kind, sandbox, sourceId },
      accessKey: await declareKey(catalog, sourceId, sandbox),
      secret: signing?.text ?? null,
    })),
  );
}

function fieldsOf(kind: Kind): Field[] {
  const { metric, labels } = shapes[kind];
  return [
    { name: 'day', role: 'period' },
    ...labels.map((name): Field => ({ name, role: 'label' })),
    { name: metric, role: 'value', metric },
  ];
}

async function declareKey(catalog: Catalog, sourceId: string, sandbox: boolean): Promise<string> {
  const text = formatKey(sandbox ? 'test' : 'live', randomBytes(keyRandomBytes));
  const hash = createHash('sha256').update(text).digest();
  const now = Date.now();
  const key = { keyId: randomUUID(), sourceId, hash, scope: 'read_write', sandbox } as const;
  await catalog.directory.createKey({ ...key, expiresAt: now + 86_400_000 }, now);
  return text;
}
