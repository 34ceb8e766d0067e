import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { delivery } from '../../src/domain/api/delivery.ts';
import { errorTable } from '../../src/domain/errors.ts';
import { errorsMarkdown } from '../../src/serve/openapi/info.ts';
import { openapiJson } from '../../src/serve/openapi.ts';
import {
  type AcceptingParts,
  acceptRoutes,
  type ReadingParts,
  readRoutes,
} from '../../src/start/api.ts';
import { type AppSetup, openApp } from '../../src/start/app.ts';
import { readSettings } from '../../src/start/settings.ts';
import { noTracing } from '../../src/tracing/tracing.ts';
import { committed, document, documented, documentedAnswers, validatorOf } from './document.ts';

const settings = readSettings({ WEIR_SECRET_KEY: '0'.repeat(64) });

describe('the document', () => {
  test('is what is committed as openapi.json (npm run openapi writes it)', () => {
    expect(committed).toBe(openapiJson(settings.baseUrl));
  });

  test('has every route and no other', () => {
    // Routes are only put together here; nothing of what they need is touched.
    const parts = { settings, catalog: {}, clock: Date.now, uses: {}, door: {} };
    const metrics = { watch: () => {} };
    const all = { ...parts, metrics, tracing: noTracing } as unknown as AcceptingParts &
      ReadingParts;
    const routes = [...acceptRoutes(all), ...readRoutes(all)];
    const served = routes.map(({ method, pattern }) => `${method} ${pattern}`).sort();
    const written = documented
      .map(({ method, path }) => `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`)
      .sort();
    expect(written).toEqual(served);
  });

  test('is also on the app listener', async () => {
    const samples = { address: { url: 'http://127.0.0.1:1', database: 'none' }, store: {} };
    const catalog = { audit: {} };
    const setup = { settings, catalog, artifacts: {}, samples, clock: Date.now };
    const { routes, close } = openApp(setup as unknown as AppSetup);
    expect(routes.map((route) => route.pattern)).toContain('/openapi.json');
    await close();
  });

  test('has each status and code of the table of errors', () => {
    const pairs = documentedAnswers().map((name) => name.split(' ').slice(1).join(' '));
    const inTable = Object.entries(errorTable).flatMap(([code, row]) =>
      row.statuses.map((status) => `${status} ${code}`),
    );
    // 405 belongs to no operation: it is what an address says to every other method.
    const missing = inTable.filter((pair) => !pairs.includes(pair));
    expect(missing).toEqual(['405 method_not_allowed']);
    for (const [code, { hint }] of Object.entries(errorTable)) {
      expect(document.info.description).toContain(`\`${code}\``);
      expect(document.info.description).toContain(hint);
    }
  });

  test('says how versions come and go, and what changed in v1', () => {
    expect(document.info.description).toMatch(/run for 90 days/);
    expect(document.info.description).toMatch(/Changelog of v1/);
  });

  test('has examples that its own schemas take', () => {
    for (const { operation } of documented) {
      for (const { content = {} } of Object.values(operation.responses)) {
        for (const { schema, examples = {} } of Object.values(content)) {
          for (const { value } of Object.values(examples) as { value: unknown }[]) {
            expect(validatorOf(schema).safeParse(value).error).toBeUndefined();
          }
        }
      }
    }
  });

  test('names no schema, header or operation that it does not have', () => {
    const names = [...committed.matchAll(/"\$ref": "#\/([^"]+)"/g)].map((match) => match[1]!);
    expect(names.length).toBeGreaterThan(20);
    for (const name of new Set(names)) {
      const found = name
        .split('/')
        .reduce<unknown>((at, part) => (at as Record<string, unknown>)?.[part], document);
      expect(found, name).toBeDefined();
    }
  });
});

describe('what is shown is what validates', () => {
  const shown = validatorOf({ $ref: '#/components/schemas/Delivery' });
  const agree = (value: unknown) => {
    expect(delivery.safeParse(value).success).toBe(shown.safeParse(value).success);
  };

  test('a delivery is taken by the schema and by its JSON Schema, or by neither', () => {
    const odd = fc.oneof(
      fc.jsonValue(),
      fc.constantFrom(0, 1, 1.5, '', 'x'.repeat(200), 'x'.repeat(201), 'a\0', 2 ** 53),
    );
    const text = fc.string({ unit: 'grapheme', maxLength: 90 });
    const near = fc.record(
      {
        idempotency_key: fc.oneof(text, odd),
        shape_version: fc.oneof(fc.integer(), odd),
        payload: fc.oneof(fc.dictionary(text, text), fc.dictionary(text, odd), odd),
        other: odd,
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(fc.oneof(near, odd), (value) => agree(value)),
      { numRuns: 2_000 },
    );
  });

  test('the length of a key is counted in code points on both sides', () => {
    const push = (key: string) => ({ idempotency_key: key, shape_version: 1, payload: {} });
    agree(push('x'.repeat(200)));
    agree(push('x'.repeat(201)));
    expect(delivery.safeParse(push('😀'.repeat(200))).success).toBe(true);
    expect(delivery.safeParse(push('😀'.repeat(201))).success).toBe(false);
  });
});

test("the README's table of errors is the one of the code (npm run openapi writes it)", () => {
  const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
  expect(readme.includes(`<!-- errors -->\n${errorsMarkdown()}\n<!-- /errors -->`)).toBe(true);
});
