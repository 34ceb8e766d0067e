import type { Operation, Parameter } from './document.ts';

/** What a user has filled in for one operation. */
export interface Draft {
  /** Of the parameters, by name; those that are empty are not sent. */
  readonly values: Readonly<Record<string, string>>;
  /** Null: the operation has no body. */
  readonly mediaType: string | null;
  readonly body: string;
}

export interface BuiltRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
  readonly body: string | null;
}

/** The header that is made of the secret, the id and the body: nobody types it. */
export const signatureName = 'Service-Signature';

/** Parameters that a user fills in. */
export function filledIn({ parameters = [] }: Pick<Operation, 'parameters'>): Parameter[] {
  return parameters.filter(({ name }) => name !== signatureName);
}

export function isSigned({ parameters = [] }: Pick<Operation, 'parameters'>): boolean {
  return parameters.some(({ name }) => name === signatureName);
}

/** The first draft: examples where the operation has them. */
export function firstDraft(operation: Operation): Draft {
  const content = operation.requestBody?.content ?? {};
  const [mediaType = null] = Object.keys(content);
  const required = filledIn(operation).filter((one) => one.required);
  const values = required.map(({ name, schema }) => [name, String(schema.examples?.[0] ?? '')]);
  const body = mediaType === null ? '' : Object.values(examplesOf(operation, mediaType))[0]!;
  return { values: Object.fromEntries(values), mediaType, body };
}

/** A media type's examples as texts, by name. */
export function examplesOf(operation: Operation, mediaType: string): Record<string, string> {
  const { examples = {} } = operation.requestBody?.content[mediaType] ?? {};
  const texts = Object.entries(examples).map(([name, { value }]) => [name, asText(value)]);
  return Object.fromEntries(texts);
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value, null, 2);
}

/** The request without what opens it, which is added when it is sent, and stands nowhere else. */
export function requestOf(baseUrl: string, operation: Operation, draft: Draft): BuiltRequest {
  const { values, mediaType } = draft;
  const given = (place: Parameter['in']) =>
    filledIn(operation)
      .filter((one) => one.in === place && (values[one.name] ?? '') !== '')
      .map(({ name }) => [name, values[name]!] as const);
  const path = operation.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
  const query = new URLSearchParams(
    given('query').map(([name, value]): [string, string] => [name, value]),
  ).toString();
  const type = mediaType === null ? [] : ([['Content-Type', mediaType]] as const);
  return {
    method: operation.method,
    url: `${baseUrl}${path}${query === '' ? '' : `?${query}`}`,
    headers: [...type, ...given('header')],
    body: mediaType === null ? null : draft.body,
  };
}

/**
 * The same request as a command. Key and signature are variables of the shell: a command is
 * copied into places where no key should be.
 */
export function curlOf({ method, url, headers, body }: BuiltRequest, operation: Operation): string {
  const lines = [body === null && method !== 'GET' ? `curl -X ${method}` : 'curl'];
  if (operation.keyed) lines.push('-H "Authorization: Bearer $WEIR_KEY"');
  if (isSigned(operation)) lines.push(`-H "${signatureName}: $SIGNATURE"`);
  for (const [name, value] of headers) lines.push(`-H ${quoted(`${name}: ${value}`)}`);
  if (body !== null) lines.push(`--data-binary ${quoted(body)}`);
  return [...lines, quoted(url)].join(' \\\n  ');
}

/** As a shell takes it literally. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
