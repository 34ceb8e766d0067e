import { z } from 'zod';
import { answerHeaders } from '../../domain/api/answer-headers.ts';
import { namedAnswers } from '../../domain/api/answers.ts';
import { delivery } from '../../domain/api/delivery.ts';
import { apiVersion, infoDescription } from './info.ts';
import type { Json, Operation, Parameter } from './operation.ts';
import { operations } from './operations.ts';
import { responsesOf, sometimesName } from './responses.ts';

/**
 * The OpenAPI 3.1 document: operations, and the schemas that requests are read by.
 *
 * @param baseUrl where the API is reached
 */
export function openapiDocument(baseUrl: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'weir',
      version: apiVersion,
      summary: 'Push metric samples, read them back, deliver webhooks.',
      description: infoDescription(),
    },
    servers: [{ url: baseUrl }],
    paths: pathsOf(operations),
    components: {
      securitySchemes: {
        accessKey: {
          type: 'http',
          scheme: 'bearer',
          description: 'An access key: `Authorization: Bearer <ACCESS_KEY>`.',
        },
      },
      headers: headerComponents(),
      schemas: namedSchemas(),
    },
  };
}

function pathsOf(all: readonly Operation[]): Json {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of all) {
    paths[operation.path] = {
      ...paths[operation.path],
      [operation.method.toLowerCase()]: {
        operationId: operation.id,
        summary: operation.summary,
        description: operation.description,
        security: operation.keyed ? [{ accessKey: [] }] : [],
        ...(operation.parameters.length > 0
          ? { parameters: operation.parameters.map(parameterOf) }
          : {}),
        ...bodyOf(operation),
        responses: responsesOf(operation),
      },
    };
  }
  return paths;
}

function parameterOf({ name, in: place, required = false, schema, shows }: Parameter): Json {
  const { description, ...shown } = schemaJson(schema, shows === 'text' ? 'input' : 'output');
  return { name, in: place, required, description, schema: shown };
}

function bodyOf({ body }: Operation): Json {
  if (!body) return {};
  const content = Object.entries(body).map(([mediaType, { schema, examples }]) => {
    const named = Object.entries(examples).map(([name, value]) => [name, { value }]);
    return [mediaType, { schema, examples: Object.fromEntries(named) }];
  });
  return { requestBody: { required: true, content: Object.fromEntries(content) } };
}

/** Each header twice: as one that an answer always has, and as one that it may lack. */
function headerComponents(): Json {
  const components = Object.entries(answerHeaders).flatMap(([name, schema]) => {
    const { description, ...shown } = schemaJson(schema, 'output');
    const about = { ...(description ? { description } : {}), schema: shown };
    return [
      [name, { ...about, required: true }],
      [sometimesName(name as keyof typeof answerHeaders), about],
    ] as const;
  });
  return Object.fromEntries(components);
}

/** The schemas that have names refer to one another by them. */
function namedSchemas(): Json {
  const registry = z.registry<{ id: string }>();
  for (const [id, schema] of Object.entries({ Delivery: delivery, ...namedAnswers })) {
    registry.add(schema, { id });
  }
  // The side that is sent: there no schema forbids what it does not name.
  const { schemas } = z.toJSONSchema(registry, {
    io: 'input',
    uri: (id) => `#/components/schemas/${id}`,
  });
  const bare = Object.entries(schemas).map(([id, { $schema, $id, ...schema }]) => [id, schema]);
  return Object.fromEntries(bare);
}

function schemaJson(schema: z.ZodType, io: 'input' | 'output'): Json & { description?: string } {
  const { $schema, ...shown } = z.toJSONSchema(schema, { io });
  return shown as Json;
}
