import { z } from 'zod';
import { allEndpoints, type NamedEndpoint } from '../domain/api/app/all.ts';
import type { Endpoint } from '../domain/api/app/endpoint.ts';
import { type AppErrorCode, appErrorTable } from '../domain/app-errors.ts';
import { etagMatches, etagOf } from '../http/etag.ts';
import type { Route } from '../http/routes.ts';

type Json = Readonly<Record<string, unknown>>;

const intro = `What the app's own pages ask for. It is documented for who runs weir and wants to
know what the pages may do; programs push and read by the API (\`/openapi.json\`), which has
versions.

Who asks is known by the cookie of a passkey sign-in. Requests that change something must come from
the app's own origin, and some need a passkey check in the last five minutes. Times are RFC 3339 in
UTC; exact decimals are texts.`;

/** The app API's document as text: what is served, and what is kept as `app-openapi.json`. */
export function appOpenapiJson(appUrl: string): string {
  return `${JSON.stringify(appOpenapiDocument(appUrl), null, 2)}\n`;
}

/** GET /app/openapi.json, for everybody. */
export function appOpenapiRoute(appUrl: string): Route {
  const body = appOpenapiJson(appUrl);
  const etag = etagOf(body);
  const headers = { ETag: etag, 'Cache-Control': 'no-cache' };
  return {
    method: 'GET',
    pattern: '/app/openapi.json',
    async handle(exchange) {
      const known = etagMatches(exchange.head.header('If-None-Match'), etag);
      const json = { ...headers, 'Content-Type': 'application/json' };
      exchange.reply(known ? { status: 304, headers } : { status: 200, headers: json, body });
    },
  };
}

function appOpenapiDocument(appUrl: string): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const named of allEndpoints) {
    const { method, path } = named.endpoint;
    paths[path] = { ...paths[path], [method.toLowerCase()]: operationOf(named) };
  }
  return {
    openapi: '3.1.0',
    info: { title: "weir's app", version: '1', description: intro },
    servers: [{ url: appUrl }],
    paths,
    components: {
      securitySchemes: {
        session: { type: 'apiKey', in: 'cookie', name: 'weir' },
      },
      schemas: { Error: errorSchema },
    },
  };
}

const errorSchema = {
  type: 'object',
  required: ['code', 'message'],
  properties: {
    code: { type: 'string', description: 'Short and machine-readable.' },
    message: { type: 'string', description: 'One plain sentence.' },
    field: { type: 'string', description: 'What of the request it is about.' },
    reason: { type: 'string', description: 'Why it cannot be done as things stand.' },
  },
};

function operationOf({ id, area, endpoint }: NamedEndpoint): Json {
  const { body, needs, summary } = endpoint;
  const content = body && { 'application/json': { schema: shown(body, 'input') } };
  return {
    operationId: id,
    tags: [area],
    summary,
    description: needsOf(endpoint),
    security: needs === 'nobody' ? [] : [{ session: [] }],
    parameters: [...pathParameters(endpoint), ...queryParameters(endpoint)],
    ...(content ? { requestBody: { required: true, content } } : {}),
    responses: { '200': success(endpoint), ...refusals(endpoint) },
  };
}

function needsOf({ needs, fresh, audited }: Endpoint): string {
  return [
    needs === 'nobody' ? 'Needs nobody to be signed in.' : `Needs the permission \`${needs}\`.`,
    ...(fresh ? ['Needs a passkey check in the last five minutes.'] : []),
    ...(audited ? [`The audit log has it as \`${audited}\`.`] : []),
  ].join(' ');
}

function pathParameters({ path }: Endpoint): Json[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    ...{ name, in: 'path', required: true, schema: { type: 'string' } },
  }));
}

function queryParameters({ query }: Endpoint): Json[] {
  if (!query) return [];
  const { properties = {}, required = [] } = shown(query, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...schema }]) => {
    const about = description === undefined ? {} : { description };
    return { name, in: 'query', required: required.includes(name), ...about, schema };
  });
}

function success({ answer }: Endpoint): Json {
  if (!answer) return { description: 'Done; what comes is no JSON.' };
  const schema = shown(answer, 'output');
  return { description: 'Done.', content: { 'application/json': { schema } } };
}

/** What an endpoint can refuse, by what it declares; several codes may share a status. */
function refusals(endpoint: Endpoint): Record<string, Json> {
  const byStatus = new Map<number, string[]>();
  for (const code of refusedCodes(endpoint)) {
    const { status, means } = appErrorTable[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), `\`${code}\`: ${means}`]);
  }
  const schema = { $ref: '#/components/schemas/Error' };
  const answers = [...byStatus].map(([status, told]) => [
    status,
    { description: told.join('\n\n'), content: { 'application/json': { schema } } },
  ]);
  return Object.fromEntries(answers);
}

function refusedCodes(endpoint: Endpoint): AppErrorCode[] {
  const { method, path, needs, fresh, query, body, refuses = [] } = endpoint;
  const changes = method === 'POST';
  const when: Record<AppErrorCode, boolean> = {
    invalid_argument: query !== undefined || body !== undefined,
    sign_in_needed: needs !== 'nobody',
    fresh_sign_in_needed: fresh === true,
    permission_needed: needs !== 'nobody',
    origin_refused: changes,
    demo_read_only: changes,
    passkey_refused: false,
    not_found: path.includes('{'),
    conflict: changes,
    too_large: changes,
    too_many_tries: false,
  };
  const codes = Object.keys(when) as AppErrorCode[];
  return codes.filter((code) => when[code] || refuses.includes(code));
}

/** What JSON Schema has no word for is shown as anything. */
function shown(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema, ...bare } = z.toJSONSchema(schema, { io, unrepresentable: 'any' });
  return bare as Json;
}
