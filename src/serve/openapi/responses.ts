import type { AnswerHeader } from '../../domain/api/answer-headers.ts';
import { type ErrorCode, errorTable } from '../../domain/errors.ts';
import type { Json, Operation, Success } from './operation.ts';

const rate = ['RateLimit-Limit', 'RateLimit-Remaining', 'RateLimit-Reset'] as const;

/** Status → response, for everything that an operation can answer. */
export function responsesOf(operation: Operation): Record<string, Json> {
  const responses: Record<string, Json> = {};
  for (const one of operation.success) responses[one.status] = successOf(one);
  for (const status of new Set(operation.refusals.map(([refused]) => refused))) {
    const codes = operation.refusals.filter(([refused]) => refused === status);
    responses[status] = refusalOf(
      operation,
      status,
      codes.map(([, code]) => code),
    );
  }
  return responses;
}

function successOf({ description, schema, json, links, headers, sometimes = [] }: Success): Json {
  const named = schema && { $ref: `#/components/schemas/${schema}` };
  const shown = named ?? (json && { type: 'object' });
  return {
    description,
    headers: { ...headersOf(headers, true), ...headersOf(sometimes, false) },
    ...(shown ? { content: { 'application/json': { schema: shown } } } : {}),
    ...(links ? { links } : {}),
  };
}

function refusalOf(operation: Operation, status: number, codes: readonly ErrorCode[]): Json {
  const always: AnswerHeader[] = [];
  if (status === 401 && operation.keyed) always.push('WWW-Authenticate');
  if (status === 429) always.push(...rate);
  if (status === 429 || status === 503) always.push('Retry-After');
  const sometimes = operation.rated.includes(status) ? rate : [];
  const told = codes.map((code) => {
    const { means, hint } = errorTable[code];
    return `\`${code}\`: ${means} ${hint}`;
  });
  const exampleOf = (code: ErrorCode) => operation.examples?.[status] ?? errorTable[code].example;
  const examples = codes.map((code) => [code, { value: { code, ...exampleOf(code) } }]);
  return {
    description: told.join('\n\n'),
    headers: { ...headersOf(always, true), ...headersOf(sometimes, false) },
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { code: { enum: codes } } },
          ],
        },
        examples: Object.fromEntries(examples),
      },
    },
  };
}

function headersOf(names: readonly AnswerHeader[], required: boolean): Json {
  const reference = (name: AnswerHeader) =>
    `#/components/headers/${required ? name : sometimesName(name)}`;
  return Object.fromEntries(names.map((name) => [name, { $ref: reference(name) }]));
}

/** The component of a header that an answer may lack. */
export function sometimesName(name: AnswerHeader): string {
  return `${name}.sometimes`;
}
