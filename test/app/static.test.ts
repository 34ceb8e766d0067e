import { App, us_listen_socket_close, us_socket_local_port } from 'uWebSockets.js';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pageRoutes } from '../../src/app/pages-routes.ts';
import type { AppParts } from '../../src/app/parts.ts';
import { readStaticFiles, variantFor } from '../../src/app/static-files.ts';
import { mount } from '../../src/http/routes.ts';
import { type Answer, ask } from '../support/ask.ts';
import { TestWeir } from '../support/test-weir.ts';

/** The console as it is built, on the app listener of a weir. */
let weir: TestWeir;
let app: string;
/** What the page begins with. */
let script: string;

beforeAll(async () => {
  weir = await TestWeir.start();
  app = `http://localhost:${weir.running.place.app}`;
  const page = await ask(app);
  script = /<script type="module"[^>]* src="(\/assets\/[^"]+)"/.exec(page.text)![1]!;
});
afterAll(() => weir.stop());

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  ask(`${app}${path}`, { method, headers });

describe('a page', () => {
  const pages = ['/', '/sources', '/sources/6b0f3f0e/deliveries/x', '/sources/new', '/metrics'];
  const open = ['/reference', '/guides', '/guides/errors', '/sign-in', '/invitation'];

  test.each([...pages, ...open])('%s is answered with the one document', async (path) => {
    const answer = await get(path);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(answer.headers['cache-control']).toBe('no-cache');
    expect(answer.text).toContain('<div id="app">');
  });

  test('is at every address that the console has one for', async () => {
    const console = readFileSync(new URL('../../src/console/app.tsx', import.meta.url), 'utf8');
    const paths = [...console.matchAll(/<Route path="([^"]+)"/g)].map(([, path]) => path!);
    expect(paths.length).toBeGreaterThan(5);
    for (const path of paths) {
      const whole = await get(path.replaceAll(/:(\w+)[?*]?/g, '$1'));
      expect(whole.status, path).toBe(200);
      const short = await get(path.replaceAll(/\/:\w+[?*]/g, ''));
      expect(short.status, path).toBe(200);
    }
  });

  test('may run and ask nothing but what is its own, and the API', async () => {
    const { headers } = await get('/');
    const policy = headers['content-security-policy'] as string;
    expect(policy).toContain("default-src 'none'");
    expect(policy).toContain("script-src 'self';");
    expect(policy).toContain("style-src 'self';");
    expect(policy).toContain(`connect-src 'self' http://127.0.0.1:${weir.port};`);
    expect(policy).not.toMatch(/unsafe|\*/);
    expect(headers['x-content-type-options']).toBe('nosniff');
    expect(headers['referrer-policy']).toBe('same-origin');
    expect(headers['cross-origin-opener-policy']).toBe('same-origin');
    expect(headers['permissions-policy']).toContain('publickey-credentials-get=(self)');
  });

  test('holds no script, no style and no address of another host', async () => {
    const { text } = await get('/');
    expect(text).not.toMatch(/<script(?![^>]*\bsrc="\/assets\/)|<style|style=|https?:\/\//);
  });

  test('is not sent again to who has it', async () => {
    const { headers } = await get('/');
    const again = await get('/', { 'If-None-Match': headers.etag! });
    expect([again.status, again.text]).toEqual([304, '']);
  });

  test('has an answer to HEAD, as long and without a body', async () => {
    const whole = await get('/guides');
    const head = await get('/guides', {}, 'HEAD');
    expect([head.status, head.text]).toEqual([200, '']);
    expect(head.headers['content-length']).toBe(String(whole.body.length));
  });

  test('takes no POST', async () => {
    const answer = await get('/sources', {}, 'POST');
    expect(answer.status).toBe(405);
    expect(answer.headers.allow).toBe('GET, HEAD');
  });
});

describe("under this machine's other names", () => {
  const asked = (host: string, path = '/guides/limits?a=b') =>
    ask(`http://127.0.0.1:${weir.running.place.app}${path}`, { headers: { Host: host } });

  test('a page leads to the name that passkeys belong to, query included', async () => {
    const answer = await asked(`127.0.0.1:${weir.running.place.app}`);
    expect([answer.status, answer.headers.location]).toEqual([307, `${app}/guides/limits?a=b`]);
  });

  test('what is no page stays: programs may ask by number', async () => {
    const host = `127.0.0.1:${weir.running.place.app}`;
    expect((await asked(host, '/openapi.json')).status).toBe(200);
    expect((await asked(host, script)).status).toBe(200);
  });

  test.each(['weir.example.com', 'localhost:9000', '127.0.0.1:9000'])(
    '%s is served: it is a proxy or a tunnel',
    async (host) => expect((await asked(host)).status).toBe(200),
  );
});

describe('what pages are made of', () => {
  test.each([
    ['br', 'br, gzip', brotliDecompressSync],
    ['gzip', 'gzip, deflate', gunzipSync],
    ['gzip', 'br;q=0, gzip;q=0.5', gunzipSync],
  ])('comes as %s to who takes %s', async (coding, accepted, unpack) => {
    const plain = await get(script);
    const answer = await get(script, { 'Accept-Encoding': accepted });
    expect(answer.headers['content-encoding']).toBe(coding);
    expect(answer.headers.vary).toContain('Accept-Encoding');
    expect(unpack(answer.body).equals(plain.body)).toBe(true);
    expect(answer.body.length).toBeLessThan(plain.body.length / 2);
    expect(answer.headers.etag).not.toBe(plain.headers.etag);
  });

  test('is kept for a year by its name', async () => {
    const { headers } = await get(script);
    expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
    expect(headers['content-type']).toBe('text/javascript; charset=utf-8');
  });

  test.each(['/assets/none.js', '/assets/', '/assets/..%2findex.html', '/assets/index.html.br'])(
    '%s is nowhere',
    async (path) => expect((await get(path)).status).toBe(404),
  );
});

describe('an address that is nowhere', () => {
  test('shows a page to people, and is 404 all the same', async () => {
    const answer = await get('/nowhere', { Accept: 'text/html,*/*;q=0.8' });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('<div id="app">');
  });

  test.each([
    ['GET', '/nowhere', '*/*'],
    ['GET', '/app/api/nowhere', 'text/html'],
    ['GET', '/v1/samples', '*/*'],
    ['POST', '/nowhere', 'text/html'],
  ])('is the Error object to programs: %s %s', async (method, path, Accept) => {
    const answer: Answer = await get(path, { Accept }, method);
    expect(answer.status).toBe(404);
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'not_found' });
  });
});

test('without a build, pages say how to make one, and the rest goes on', async () => {
  const consoleDir = mkdtempSync(join(tmpdir(), 'weir-no-console-'));
  const urls = { apiUrl: 'http://127.0.0.1:8080', appUrl: 'http://localhost:8081' };
  const served = App();
  const silent = { error: () => {} };
  mount(served, pageRoutes({ consoleDir, ...urls } as unknown as AppParts), silent);
  const socket = await new Promise<Parameters<typeof us_listen_socket_close>[0]>((resolve) =>
    served.listen('127.0.0.1', 0, (one) => resolve(one as never)),
  );
  const url = `http://127.0.0.1:${us_socket_local_port(socket)}`;
  const page = await ask(`${url}/sources`);
  expect([page.status, page.text]).toEqual([503, expect.stringContaining('npm run build')]);
  expect((await ask(`${url}/app/openapi.json`)).status).toBe(200);
  us_listen_socket_close(socket);
  rmSync(consoleDir, { recursive: true });
});

test('a build without packed files is served as it is', () => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-plain-console-'));
  writeFileSync(join(directory, 'index.html'), '<p>');
  const file = readStaticFiles(directory)!.get('/index.html')!;
  expect(variantFor(file, 'br, gzip').coding).toBeNull();
  writeFileSync(join(directory, 'odd.bin'), '');
  expect(() => readStaticFiles(directory)).toThrow(/odd\.bin/);
  rmSync(directory, { recursive: true });
});
