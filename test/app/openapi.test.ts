import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { appOpenapiJson } from '../../src/app/openapi.ts';
import { allEndpoints } from '../../src/domain/api/app/all.ts';
import { type AppSetup, openApp } from '../../src/start/app.ts';
import { readSettings } from '../../src/start/settings.ts';

const settings = readSettings({ WEIR_SECRET_KEY: '0'.repeat(64) });
const committed = readFileSync(new URL('../../app-openapi.json', import.meta.url), 'utf8');

interface Operation {
  readonly operationId: string;
  readonly security: readonly object[];
  readonly responses: Readonly<Record<string, { description: string }>>;
}
const { paths } = JSON.parse(committed) as { paths: Record<string, Record<string, Operation>> };
const written = Object.entries(paths).flatMap(([path, operations]) =>
  Object.entries(operations).map(([method, operation]) => ({
    name: `${method.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`,
    ...operation,
  })),
);

describe("the app API's document", () => {
  test('is what is committed as app-openapi.json (npm run openapi writes it)', () => {
    // Without the difference, which can be thousands of lines.
    expect(committed === appOpenapiJson(settings.appUrl), 'as the code has it').toBe(true);
  });

  test('has every route of the app API and no other', async () => {
    // Routes are only put together here; nothing of what they need is touched.
    const samples = { address: { url: 'http://127.0.0.1:1', database: 'none' }, store: {} };
    const setup = { settings, catalog: { audit: {} }, artifacts: {}, samples, clock: Date.now };
    const { routes, close } = openApp(setup as unknown as AppSetup);
    await close();
    const served = routes
      .filter(({ pattern }) => pattern.startsWith('/app/api/'))
      .map(({ method, pattern }) => `${method} ${pattern}`);
    expect(written.map(({ name }) => name).sort()).toEqual(served.sort());
    expect(served.length).toBeGreaterThan(10);
  });

  test('gives each operation a name of its own', () => {
    const ids = written.map(({ operationId }) => operationId);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('asks for a session wherever the endpoint needs a permission', () => {
    for (const { id, endpoint } of allEndpoints) {
      const { security, responses } = written.find(({ operationId }) => operationId === id)!;
      const needed = endpoint.needs !== 'nobody';
      expect(security.length > 0, id).toBe(needed);
      expect('401' in responses, id).toBe(needed);
      const stale = responses['403']?.description.includes('fresh_sign_in_needed') ?? false;
      expect(stale, id).toBe(endpoint.fresh === true);
    }
  });

  test('has every change in the audit log, but for the steps of a sign-in', () => {
    const changing = allEndpoints.filter(
      ({ endpoint }) => endpoint.method === 'POST' && endpoint.needs === 'sources.manage',
    );
    const silent = changing.filter(({ endpoint }) => endpoint.audited === undefined);
    expect(silent.map(({ id }) => id)).toEqual([]);
  });
});
