import { readFileSync } from 'node:fs';
import { z } from 'zod';
import type { Answer } from '../support/ask.ts';

type Json = Readonly<Record<string, unknown>>;

interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly $ref: string }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Json; readonly examples?: Json }>>;
}

interface DocumentOperation {
  readonly operationId: string;
  readonly security: readonly unknown[];
  readonly responses: Readonly<Record<string, Response>>;
}

interface OpenApi {
  readonly openapi: string;
  readonly info: { readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentOperation>>>>;
  readonly components: {
    readonly headers: Readonly<Record<string, { schema: Json; required?: boolean }>>;
    readonly schemas: Readonly<Record<string, Json>>;
  };
}

export const committed = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8');
export const document = JSON.parse(committed) as OpenApi;

/** Every operation with its method and path. */
export const documented = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
);

/** A validator of one of the document's schemas: made of the document, not of our own schemas. */
export function validatorOf(schema: Json): z.ZodType {
  const local = (value: unknown) =>
    JSON.parse(JSON.stringify(value).replaceAll('#/components/schemas/', '#/$defs/')) as Json;
  return z.fromJSONSchema({ ...local(schema), $defs: local(document.components.schemas) } as never);
}

/** `<operation> <status> <code>` of every refusal, and `<operation> <status>` of every success. */
export function documentedAnswers(): string[] {
  return documented.flatMap(({ operation }) =>
    Object.entries(operation.responses).flatMap(([status, response]) => {
      const codes = codesOf(response);
      const name = `${operation.operationId} ${status}`;
      return codes.length > 0 ? codes.map((code) => `${name} ${code}`) : [name];
    }),
  );
}

function codesOf({ content }: Response): string[] {
  const parts = content?.['application/json']?.schema.allOf as Json[] | undefined;
  const narrowed = parts?.[1]?.properties as { code: { enum: string[] } } | undefined;
  return narrowed?.code.enum ?? [];
}

/** What any answer may carry beside what is documented for it. */
const unsaid = new Set([
  ...['date', 'uwebsockets', 'content-length', 'connection', 'transfer-encoding', 'content-type'],
  ...['access-control-allow-origin', 'access-control-expose-headers', 'vary'],
  // On every answer of every listener (SECURITY.md).
  ...['content-security-policy', 'x-content-type-options', 'cache-control'],
]);

/**
 * Holds an answer to the document.
 *
 * @returns its name, as in `documentedAnswers`
 * @throws Error that says what the document does not have
 */
export function judged(operationId: string, answer: Answer): string {
  const found = documented.find(({ operation }) => operation.operationId === operationId);
  const response = found?.operation.responses[answer.status];
  if (!response) throw new Error(`${operationId} ${answer.status} is not in the document`);
  judgeHeaders(response, answer);
  const code = judgeBody(response, answer);
  return [operationId, answer.status, code].filter(Boolean).join(' ');
}

function judgeBody({ content }: Response, answer: Answer): string | undefined {
  if (!content) {
    if (answer.text !== '')
      throw new Error(`a body that the document does not have: ${answer.text}`);
    return undefined;
  }
  const mediaType = answer.headers['content-type'] ?? 'nothing';
  const shown = content[mediaType];
  if (!shown) throw new Error(`the media type ${mediaType} is not in the document`);
  const body = JSON.parse(answer.text) as { code?: string };
  const read = validatorOf(shown.schema).safeParse(body);
  if (!read.success) throw new Error(`${answer.text}: ${read.error.message}`);
  return body.code;
}

function judgeHeaders({ headers = {} }: Response, answer: Answer): void {
  const known = new Set(unsaid);
  for (const [name, { $ref }] of Object.entries(headers)) {
    known.add(name.toLowerCase());
    const { schema, required } = document.components.headers[$ref.split('/').at(-1)!]!;
    const value = answer.headers[name.toLowerCase()];
    if (value === undefined && required) throw new Error(`the header ${name} is missing`);
    if (value === undefined) continue;
    const read = validatorOf(schema).safeParse(typed(String(value), schema.type));
    if (!read.success) throw new Error(`the header ${name}: ${value} is none of its schema's`);
  }
  for (const name of Object.keys(answer.headers)) {
    if (!known.has(name)) throw new Error(`the header ${name} is not in the document`);
  }
}

/** The text of a header as the value that it stands for. */
function typed(text: string, type: unknown): unknown {
  return type === 'integer' || type === 'boolean' ? JSON.parse(text) : text;
}
