/** What the reference reads of an OpenAPI 3.1 document. */
export interface OpenApi {
  readonly info: { readonly version: string; readonly description: string };
  readonly servers: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
  };
}

interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly security: readonly object[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Readonly<Record<string, Media>> };
  readonly responses: Readonly<Record<string, Response>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: 'header' | 'query' | 'path';
  readonly required: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Media {
  readonly schema: Schema;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}

export interface Response {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Reference>>;
  readonly content?: Readonly<Record<string, Media>>;
}

interface Reference {
  readonly $ref: string;
}

export interface HeaderObject {
  readonly description?: string;
  readonly required?: boolean;
  readonly schema: Schema;
}

export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly description?: string;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly examples?: readonly unknown[];
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxItems?: number;
}

/** An operation with its address. */
export interface Operation extends OperationObject {
  readonly method: string;
  readonly path: string;
  /** An access key opens it. */
  readonly keyed: boolean;
}

/** All operations in the document's order. */
export function operationsOf({ paths }: OpenApi): Operation[] {
  return Object.entries(paths).flatMap(([path, byMethod]) =>
    Object.entries(byMethod).map(([method, operation]) => ({
      ...operation,
      ...{ path, method: method.toUpperCase(), keyed: operation.security.length > 0 },
    })),
  );
}

/** What a reference names; the schema itself where it is none. */
export function resolve(
  document: OpenApi,
  schema: Schema,
): { name: string | null; schema: Schema } {
  const name = schema.$ref?.replace('#/components/schemas/', '');
  if (name === undefined) return { name: null, schema };
  return { name, schema: document.components.schemas[name]! };
}

/** A header of an answer; `required`: it always comes. */
export function headerOf(document: OpenApi, { $ref }: Reference): HeaderObject {
  return document.components.headers[$ref.replace('#/components/headers/', '')]!;
}

/** In few words: `string (uuid)`, `array of Sample`, `integer or null`. */
export function typeText(schema: Schema): string {
  if (schema.$ref) return schema.$ref.replace('#/components/schemas/', '');
  if (schema.anyOf) return schema.anyOf.map(typeText).join(' or ');
  if (schema.type === 'array') return `array of ${schema.items ? typeText(schema.items) : 'any'}`;
  const { additionalProperties: values } = schema;
  if (schema.type === 'object' && typeof values === 'object')
    return `object of ${typeText(values)}`;
  const type = [schema.type ?? 'any'].flat().join(' or ');
  return schema.format ? `${type} (${schema.format})` : type;
}

/** What a value must keep to, one short text for each rule. */
export function rulesOf(schema: Schema): string[] {
  const { maxItems, pattern, format } = schema;
  const rules: string[] = [];
  if (schema.const !== undefined) rules.push(`always ${JSON.stringify(schema.const)}`);
  if (schema.enum) rules.push(`one of ${schema.enum.map((one) => JSON.stringify(one)).join(', ')}`);
  rules.push(...rangeOf(schema.minLength, schema.maxLength, ' characters'));
  rules.push(...rangeOf(schema.minimum, schema.maximum, ''));
  if (maxItems !== undefined) rules.push(`at most ${maxItems} items`);
  if (pattern !== undefined && format === undefined) rules.push(`matches ${pattern}`);
  if (schema.default !== undefined) rules.push(`else ${JSON.stringify(schema.default)}`);
  return rules;
}

/** What any number in JSON is below is no rule of ours. */
function rangeOf(from: number | undefined, to = Number.MAX_SAFE_INTEGER, unit: string): string[] {
  const ends = to < Number.MAX_SAFE_INTEGER;
  if (from !== undefined && ends) return [`${from} to ${to}${unit}`];
  if (ends) return [`at most ${to}${unit}`];
  return from === undefined ? [] : [`at least ${from}${unit}`];
}
