import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { z } from 'zod';
import { isPostgres, sqliteUrl } from '../catalog/open.ts';
import { isRedisUrl, redisUrlForm } from '../rates/address.ts';
import { readCrashPoint } from '../std/crash-point.ts';

/** A listener's address, `host:port`. */
export interface ListenAddress {
  readonly host: string;
  readonly port: number;
}

const listen = z.string().transform((text, context): ListenAddress => {
  const parts = /^(\[[0-9a-fA-F:]+\]|[^:]+):([0-9]{1,5})$/.exec(text);
  const port = Number(parts?.[2]);
  if (!parts || port > 65_535) {
    context.addIssue({ code: 'custom', message: 'must be host:port' });
    return z.NEVER;
  }
  return { host: parts[1]!.replace(/^\[|\]$/g, ''), port };
});

const urlOf = (schemes: string[]) =>
  z.string().refine((text) => schemes.some((scheme) => text.startsWith(`${scheme}:`)), {
    message: `must start with ${schemes.map((scheme) => `${scheme}:`).join(' or ')}`,
  });

/** Every setting: its form, its default and what it is for. `--help` is made of this. */
export const settingsSchema = z.object({
  WEIR_DATA_DIR: z
    .string()
    .min(1)
    .default('./data')
    .describe('catalog, artifacts, embedded ClickHouse and secret key'),
  WEIR_LISTEN: listen.prefault('127.0.0.1:8080').describe('the API'),
  WEIR_APP_LISTEN: listen.prefault('127.0.0.1:8081').describe('the console and API reference'),
  WEIR_OPS_LISTEN: listen.prefault('127.0.0.1:8082').describe('/livez, /readyz and /metrics'),
  WEIR_LISTEN_SHARED: z
    .enum(['0', '1'])
    .default('0')
    .describe('1: another process may listen on the API address too, for a rolling restart'),
  WEIR_BASE_URL: z.url().optional().describe('the API as callers reach it; from WEIR_LISTEN'),
  WEIR_APP_URL: z.url().optional().describe('the console as browsers reach it'),
  WEIR_ARTIFACTS_URL: urlOf(['file', 's3+http', 's3+https'])
    .optional()
    .describe('file: in the data directory, or s3+http://KEY:SECRET@host:port/bucket'),
  WEIR_CATALOG_URL: urlOf(['sqlite', 'postgres', 'postgresql'])
    .optional()
    .describe('SQLite in the data directory, or postgres://…'),
  WEIR_CLICKHOUSE_URL: urlOf(['http', 'https'])
    .optional()
    .describe('the embedded engine, or http://user:pass@host:8123/db (?cluster=NAME)'),
  WEIR_REDIS_URL: z
    .string()
    .refine(isRedisUrl, { message: `must look like ${redisUrlForm}` })
    .optional()
    .describe('none: rates in memory'),
  WEIR_SECRET_KEY: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex digits')
    .optional()
    .describe('encrypts signing secrets; a key file in the data directory'),
  WEIR_DOCS_ORIGIN: z.string().optional().describe('origins of the reference site, by comma'),
  WEIR_DEMO: z.enum(['0', '1']).default('0').describe('1: demo deployment, fixtures, no pushes'),
  WEIR_RATE_PER_MINUTE: z.coerce.number().int().min(1).default(60).describe('requests a minute'),
  WEIR_RATE_BURST: z.coerce.number().int().min(1).default(20).describe('requests at once'),
  WEIR_TRUSTED_PROXIES: z
    .string()
    .default('')
    .describe('addresses whose X-Forwarded-For is believed, by comma'),
  WEIR_LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'silent'])
    .default('info')
    .describe('how much is logged'),
  WEIR_CRASH_AT: z
    .string()
    .refine((text) => readCrashPoint(text) !== null, 'must name a crash point')
    .optional()
    .describe('for tests: the process kills itself at this step of a delivery'),
});

type Raw = z.infer<typeof settingsSchema>;

/** All settings, defaults filled in. */
export type Settings = Raw & {
  readonly dataDir: string;
  readonly artifactsUrl: string;
  readonly catalogUrl: string;
  readonly baseUrl: string;
  readonly appUrl: string;
};

/** A setting is unknown or has a bad value: one line that says which. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}

/**
 * Reads the settings out of an environment. `NAME_FILE` names a file that holds the value.
 *
 * @throws SettingsError
 */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  const known = Object.keys(settingsSchema.shape);
  const given: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (!name.startsWith('WEIR_') || value === undefined) continue;
    const base = name.endsWith('_FILE') ? name.slice(0, -'_FILE'.length) : name;
    if (!known.includes(base)) throw new SettingsError(`${name} is no setting of weir`);
    if (base in given) throw new SettingsError(`${base} and ${base}_FILE are both set`);
    given[base] = base === name ? value : fileContent(name, value);
  }
  const parsed = settingsSchema.safeParse(given);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new SettingsError(`${String(issue!.path[0])}: ${issue!.message}`);
  }
  return complete(parsed.data);
}

function fileContent(name: string, path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    throw new SettingsError(`${name}: the file ${path} cannot be read`, { cause });
  }
}

function complete(raw: Raw): Settings {
  const dataDir = resolve(raw.WEIR_DATA_DIR);
  if (isPostgres(raw.WEIR_CATALOG_URL ?? '')) {
    // Several nodes share such a catalog: a key file, or an engine, of one is not the others'.
    for (const name of ['WEIR_SECRET_KEY', 'WEIR_CLICKHOUSE_URL'] as const) {
      if (!raw[name]) throw new SettingsError(`${name} is required with a catalog on Postgres`);
    }
  }
  return {
    ...raw,
    dataDir,
    artifactsUrl: raw.WEIR_ARTIFACTS_URL ?? pathToFileURL(`${dataDir}/artifacts`).href,
    catalogUrl: raw.WEIR_CATALOG_URL ?? sqliteUrl(`${dataDir}/catalog.db`),
    baseUrl: raw.WEIR_BASE_URL ?? urlOfListener(raw.WEIR_LISTEN),
    appUrl: (raw.WEIR_APP_URL ?? urlOfApp(raw.WEIR_APP_LISTEN)).replace(/\/+$/, ''),
  };
}

function urlOfListener({ host, port }: ListenAddress): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** By name where it is this machine: no passkey belongs to an address (WebAuthn, section 5.1.2). */
function urlOfApp({ host, port }: ListenAddress): string {
  const here = ['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host);
  return urlOfListener({ host: here ? 'localhost' : host, port });
}

/** The settings as a table for `--help`. */
export function settingsHelp(): string {
  const lines = Object.entries(settingsSchema.shape).map(([name, schema]) => {
    const fallback = schema.safeParse(undefined);
    const shown = fallback.success && fallback.data !== undefined ? defaultText(fallback.data) : '';
    return `  ${name.padEnd(22)} ${schema.description ?? ''}${shown ? ` (${shown})` : ''}`;
  });
  return ['Settings (environment; each also as NAME_FILE):', ...lines].join('\n');
}

function defaultText(value: unknown): string {
  if (typeof value === 'object' && value !== null && 'port' in value && 'host' in value) {
    return `${value.host}:${value.port}`;
  }
  return String(value);
}
