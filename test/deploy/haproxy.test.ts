import { type ChildProcess, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { ensureDebian } from '../support/debian.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { endServer, freePort, startServer } from '../support/server-process.ts';
import { deployDir, deployFile, ports } from './deploy-files.ts';
import { haproxyConfig, type ProxiedNode } from './haproxy-config.ts';

const haproxy = await need('HAProxy', () => ensureDebian('/usr/sbin/haproxy', ['haproxy']));

/** Stands for weir: says what it got, and does what a test tells it. */
class Backend {
  readonly seen: { url: string; headers: http.IncomingHttpHeaders }[] = [];
  isReady = true;
  isAlive = true;
  /** Requests that it drops after their head, as a node that dies does. */
  drops = 0;
  onFirstBytes: () => void = () => {};
  readonly #servers: http.Server[] = [];

  async start(): Promise<ProxiedNode> {
    const answer: http.RequestListener = (request, response) => this.#answer(request, response);
    const ready: http.RequestListener = ({ url }, response) => {
      const isWell = url === '/livez' ? this.isAlive : this.isReady && url === '/readyz';
      response.writeHead(isWell ? 200 : 503).end();
    };
    const [api, app] = [await this.#listen(answer), await this.#listen(answer)];
    return { host: '127.0.0.1', api, app, ops: await this.#listen(ready) };
  }

  stop(): void {
    for (const server of this.#servers) {
      server.close();
      server.closeAllConnections();
    }
  }

  #answer(request: http.IncomingMessage, response: http.ServerResponse): void {
    this.seen.push({ url: request.url!, headers: request.headers });
    if (this.drops > 0) {
      this.drops--;
      request.socket.destroy();
      return;
    }
    let bytes = 0;
    request.on('data', (chunk: Buffer) => {
      if (bytes === 0) this.onFirstBytes();
      bytes += chunk.length;
    });
    request.on('end', () => response.writeHead(202).end(`${bytes}`));
  }

  async #listen(handle: http.RequestListener): Promise<number> {
    const server = http.createServer(handle);
    this.#servers.push(server);
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    return (server.address() as AddressInfo).port;
  }
}

describeWith('HAProxy', haproxy, (program) => {
  const directory = mkdtempSync(join(tmpdir(), 'weir-haproxy-'));
  const backends = [new Backend(), new Backend()] as const;
  const at = { api: '', app: '', apiTls: '', appTls: '', metrics: '', certificate: '' };
  const path = join(directory, 'haproxy.cfg');
  let proxy: ChildProcess | undefined;

  beforeAll(async () => {
    execFileSync('sh', [join(deployDir, 'make-secrets'), directory]);
    const nodes = [await backends[0].start(), await backends[1].start()];
    for (const name of ['api', 'app', 'apiTls', 'appTls', 'metrics'] as const) {
      at[name] = `127.0.0.1:${await freePort()}`;
    }
    at.certificate = join(directory, 'tls.pem');
    writeFileSync(path, haproxyConfig(nodes, at));
    const isUp = () => ask(`http://${at.api}/`).then(({ status }) => status === 202);
    const ready = () => isUp().catch(() => false);
    const args = ['-db', '-f', path];
    proxy = await startServer({ name: 'HAProxy', command: program, args, ready });
  });

  beforeEach(() => {
    for (const backend of backends) backend.seen.length = 0;
  });

  afterAll(async () => {
    if (proxy) await endServer(proxy);
    for (const backend of backends) backend.stop();
  });

  test('understands the file without a warning', () => {
    const text = deployFile('haproxy.cfg').replaceAll('/run/secrets', directory);
    const whole = join(directory, 'whole.cfg');
    writeFileSync(whole, text);
    const { status, stderr } = spawnSync(program, ['-c', '-f', whole]);
    expect({ status, warned: /WARNING|ALERT/.test(stderr.toString()) }).toEqual({
      ...{ status: 0, warned: false },
    });
    for (const port of Object.values(ports)) expect(text).toMatch(new RegExp(`[: ]${port}\\b`));
  });

  test('tells weir who asks, whatever the client says of itself', async () => {
    const claimed = { 'X-Forwarded-For': '203.0.113.9' };
    await ask(`http://${at.api}/v1/samples`, { headers: claimed });
    const [request] = seen();
    expect(request!.headers['x-forwarded-for']).toBe('127.0.0.1');
  });

  test('takes TLS, and says so to browsers', async () => {
    const answer = await ask(`https://${at.apiTls}/v1/samples`, { certificate: at.certificate });
    expect(answer.status).toBe(202);
    expect(answer.headers['strict-transport-security']).toContain('max-age');
  });

  test('passes a body on while it comes', async () => {
    const arrived = new Promise<void>((resolve) => {
      for (const backend of backends) backend.onFirstBytes = resolve;
    });
    const request = http.request(`http://${at.api}/v1/ingest`, { method: 'POST' });
    const answered = bodyOf(request);
    request.write(Buffer.alloc(100_000));
    await arrived;
    request.end(Buffer.alloc(200_000));
    expect((await answered).body).toBe('300000');
  });

  test('sends a push again that a dying node did not answer', async () => {
    for (const backend of backends) backend.drops = 0;
    backends[0].drops = 1;
    backends[1].drops = 1;
    const [first, second] = await Promise.all([push(at.api), push(at.api)]);
    for (const backend of backends) backend.drops = 0;
    expect([first!.status, second!.status]).toEqual([202, 202]);
    expect(seen().length).toBe(4);
  });

  test("never sends a call of the app's twice", async () => {
    for (const backend of backends) backend.drops = 1;
    const answer = await push(at.app);
    for (const backend of backends) backend.drops = 0;
    expect(answer.status).toBe(502);
    expect(seen().length).toBe(1);
  });

  test('sends nothing to a node that is not ready', async () => {
    backends[0].isReady = false;
    await until(async () => (await stateOf(at.metrics, 'weir-1')) === 'DOWN');
    backends[0].seen.length = 0;
    for (let i = 0; i < 6; i++) expect((await push(at.api)).status).toBe(202);
    expect(backends[0].seen).toEqual([]);
    expect(backends[1].seen.length).toBe(6);
  });

  test('leaves it to weir to answer when no node is ready', async () => {
    for (const backend of backends) backend.isReady = false;
    await until(async () => (await stateOf(at.metrics, 'weir-2')) === 'DOWN');
    expect([(await push(at.api)).status, (await push(at.app)).status]).toEqual([202, 202]);
  });

  test("speaks as weir's API does when no node is there", async () => {
    for (const backend of backends) backend.isAlive = false;
    await until(async () => (await push(at.api)).status === 503);
    const answer = await push(at.api);
    expect(JSON.parse(answer.body).code).toBe('internal');
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  const seen = () => backends.flatMap((backend) => backend.seen);
});

async function stateOf(metrics: string, server: string): Promise<string | undefined> {
  const { body } = await ask(`http://${metrics}/metrics`);
  const line = `haproxy_server_status{proxy="api_nodes",server="${server}",state="`;
  const states = body.split('\n').filter((one) => one.startsWith(line) && one.endsWith(' 1'));
  return states[0]?.slice(line.length).split('"')[0];
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  for (const deadline = Date.now() + 15_000; !(await isSo()); await sleep(100)) {
    if (Date.now() > deadline) throw new Error('it did not come to pass within 15 s');
  }
}

interface Answer {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
}

const push = (at: string) => ask(`http://${at}/v1/ingest`, { method: 'POST', body: '{}' });

/** One request on a connection of its own. */
function ask(
  url: string,
  options: http.RequestOptions & { body?: string; certificate?: string } = {},
): Promise<Answer> {
  const { body, certificate, ...others } = options;
  const request = certificate
    ? https.request(url, { ...others, agent: false, ca: readFileSync(certificate) })
    : http.request(url, { ...others, agent: false });
  const answered = bodyOf(request);
  request.end(body);
  return answered;
}

function bodyOf(request: http.ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on('error', reject);
    request.on('response', async (response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode!, headers: response.headers, body });
    });
  });
}
