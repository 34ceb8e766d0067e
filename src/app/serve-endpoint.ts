import type { z } from 'zod';
import type { Audit } from '../catalog/audit-contract.ts';
import { CatalogRefusal } from '../catalog/catalog.ts';
import type { Endpoint, Permission } from '../domain/api/app/endpoint.ts';
import { AppError } from '../domain/app-errors.ts';
import { etagMatches, etagOf } from '../http/etag.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import { framingOf } from '../http/framing.ts';
import type { Route } from '../http/routes.ts';
import { type BodyRefusal, readSmallBody } from '../http/small-body.ts';
import type { Clock } from '../std/clock.ts';
import { audited } from './audited.ts';
import { type FindSession, requireFresh, type SignedIn } from './session.ts';

/** What every endpoint is served with. */
export interface EndpointParts {
  readonly findSession: FindSession;
  /** The app's own, as browsers send them; requests that change something come from there. */
  readonly origins: ReadonlySet<string>;
  /** A demo deployment: nothing can be changed. */
  readonly readOnly: boolean;
  readonly audit: Pick<Audit, 'note'>;
  readonly clock: Clock;
}

/** One request, all checks passed. */
export interface Ask<Query, Body> {
  readonly exchange: Exchange;
  /** Of the path, by name. */
  readonly params: Readonly<Record<string, string>>;
  readonly query: Query;
  readonly body: Body;
  readonly now: number;
  /** Who asks. Endpoints that need nobody: see `session`. */
  readonly by: SignedIn;
  /** Null where nobody is signed in, which only endpoints meet that need nobody. */
  readonly session: SignedIn | null;
  /** Headers of the answer. */
  readonly headers: Record<string, string>;
}

const bodyBytesMax = 1024 * 1024;
/** A passkey takes some kilobytes; what strangers send is read before any rate counts it. */
const strangersBodyBytesMax = 128 * 1024;

/**
 * Serves one endpoint. The order of the checks: origin, session, permission, demo, fresh sign-in,
 * query, body; then the audit log; then the work. So a refusal tells nothing of what is there.
 *
 * @param work gives the answer, or a whole reply where the endpoint declares no JSON; null when it
 *   has replied itself
 */
export function serveEndpoint<Q extends z.ZodType, B extends z.ZodType, A extends z.ZodType>(
  parts: EndpointParts,
  endpoint: Endpoint<Q, B, A>,
  work: (ask: Ask<z.infer<Q>, z.infer<B>>) => Promise<z.infer<A> | Reply | null>,
): Route {
  const bytesMax = endpoint.needs === 'nobody' ? strangersBodyBytesMax : bodyBytesMax;
  const names = [...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  return {
    method: endpoint.method,
    pattern: endpoint.path.replaceAll(/\{(\w+)\}/g, ':$1'),
    async handle(exchange, values) {
      // Two readings of where it ends are two next requests.
      if (endpoint.method === 'POST') framingOf(exchange.head);
      // Before anything is awaited: what nobody asked for is dropped.
      const reading = endpoint.method === 'POST' ? readSmallBody(exchange, bytesMax) : null;
      if (endpoint.method === 'POST') requireOrigin(exchange, parts.origins);
      const now = parts.clock();
      const session = await parts.findSession(exchange, now);
      requirePermission(endpoint, session, parts.readOnly, now);
      const params = Object.fromEntries(names.map((name, i) => [name, values[i]!]));
      const query = readQuery(endpoint, exchange.head.query);
      const body = endpoint.body && read(endpoint.body, jsonOf(await reading!, bytesMax), 'body');
      const headers: Record<string, string> = {};
      const by = session as SignedIn;
      const ask = { exchange, params, query, body, now, by, session, headers };
      const done = () => work(ask as Ask<z.infer<Q>, z.infer<B>>).catch(toldRefusal);
      const answer = await (endpoint.audited
        ? audited(parts.audit, { action: endpoint.audited, by: session, params, body, now }, done)
        : done());
      if (answer === null) return;
      exchange.reply(endpoint.answer ? jsonReply(exchange, answer, headers) : (answer as Reply));
    },
  };
}

/** Cookies are SameSite=Strict; this holds where a browser sends them all the same. */
function requireOrigin(exchange: Exchange, origins: ReadonlySet<string>): void {
  const origin = exchange.head.header('Origin');
  if (origin === undefined || !origins.has(origin)) {
    throw new AppError('origin_refused', "This takes requests of the app's own pages only.");
  }
}

function requirePermission(
  { needs, fresh, method }: Pick<Endpoint, 'needs' | 'fresh' | 'method'>,
  session: SignedIn | null,
  readOnly: boolean,
  now: number,
): void {
  if (readOnly && method === 'POST') {
    throw new AppError('demo_read_only', 'A demo deployment can be looked at, not changed.');
  }
  if (needs === 'nobody') return;
  if (session === null) throw new AppError('sign_in_needed', 'Sign in first.');
  if (!permits(session.user.permissions, needs)) {
    throw new AppError('permission_needed', `This needs the permission ${needs}.`);
  }
  if (fresh) requireFresh(session, now);
}

/** Whether what was granted holds what is needed. */
export function permits(granted: readonly Permission[], needed: Permission): boolean {
  return granted.includes(needed) || granted.includes('sources.manage');
}

function readQuery<Q extends z.ZodType>(
  { query: schema }: Pick<Endpoint<Q>, 'query'>,
  text: string,
): z.infer<Q> | undefined {
  if (!schema) return undefined;
  const values: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(text)) {
    if (name in values) throw invalidField(name, 'This parameter must stand only once.');
    values[name] = value;
  }
  return read(schema, values, null);
}

function jsonOf(bytes: Buffer | BodyRefusal, bytesMax: number): unknown {
  if (bytes === 'too_large') {
    const message = `A request has at most ${bytesMax} bytes.`;
    throw new AppError('too_large', message, { close: true });
  }
  if (typeof bytes === 'string') {
    const message = 'The body did not come in time.';
    throw new AppError('invalid_argument', message, { field: 'body', close: true });
  }
  if (bytes.length === 0) return {};
  try {
    return JSON.parse(bytes.toString());
  } catch {
    throw invalidField('body', 'The body is no JSON.');
  }
}

function read<S extends z.ZodType>(schema: S, value: unknown, whole: string | null): z.infer<S> {
  const { success, data, error } = schema.safeParse(value);
  if (success) return data;
  const [issue] = error.issues;
  throw invalidField(issue!.path.join('.') || (whole ?? 'query'), issue!.message);
}

function invalidField(field: string, message: string): AppError {
  return new AppError('invalid_argument', message, { field });
}

/** What the catalog refuses, as the app tells it. */
function toldRefusal(error: unknown): never {
  if (!(error instanceof CatalogRefusal)) throw error;
  const { code, message, field } = error;
  const more = { reason: code, ...(field === undefined ? {} : { field }) };
  if (code.endsWith('_not_found')) throw new AppError('not_found', message, more);
  throw new AppError('conflict', message, more);
}

/** A reader who has the same answer already gets 304 (RFC 9110, section 13.1.2). */
function jsonReply(exchange: Exchange, answer: unknown, headers: Record<string, string>): Reply {
  const body = JSON.stringify(answer ?? {});
  const json = { ...headers, 'Content-Type': 'application/json' };
  if (exchange.head.method !== 'GET') return { status: 200, headers: json, body };
  const etag = etagOf(body);
  const kept = { ...json, ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Cookie' };
  if (etagMatches(exchange.head.header('If-None-Match'), etag)) {
    return { status: 304, headers: { ...headers, ETag: etag, Vary: 'Cookie' } };
  }
  return { status: 200, headers: kept, body };
}
