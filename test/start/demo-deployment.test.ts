import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { parse as parseCsv } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { allEndpoints } from '../../src/domain/api/app/all.ts';
import { signDelivery } from '../../src/domain/signature.ts';
import type { DeliveryView } from '../../src/serve/deliveries.ts';
import { freePorts, RunningWeir } from '../../src/start/demo/running-weir.ts';
import { type Answer, ask, jsonOf } from '../support/ask.ts';
import type { Sample, Samples } from '../support/sender.ts';
import { appClient } from '../support/signed-in.ts';

const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8');
/** The published key, where users find it. */
const demoKey = /\bwk_demo_[\w-]{32}/.exec(readme)?.[0] ?? '';

describe('a demo deployment (specification, "Interactive reference site and demo key")', () => {
  let weir: RunningWeir;
  let dir: string;
  let madeAt: Date;

  beforeAll(async () => {
    dir = await mkdtemp(join(tmpdir(), 'weir-demo-test-'));
    const [api, app, ops] = await freePorts(3);
    const settings = { WEIR_DEMO: '1', WEIR_TRUSTED_PROXIES: '127.0.0.1' };
    weir = new RunningWeir({ dataDir: dir, api: api!, app: app!, ops: ops!, settings });
    madeAt = new Date();
    await weir.start();
  });

  afterAll(async () => {
    await weir?.end();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  let networks = 0;

  /** A client of a network that no test has used, so that it has a full bucket. */
  function freshClient(): string {
    networks += 1;
    return `203.0.${networks}.7`;
  }

  function read(path: string, client = freshClient(), headers = {}): Promise<Answer> {
    const own = { Authorization: `Bearer ${demoKey}`, 'X-Forwarded-For': client };
    return ask(`${weir.url}${path}`, { headers: { ...own, ...headers } });
  }

  async function samples(query = ''): Promise<Samples> {
    const answer = await read(`/v1/samples${query}`);
    expect(answer.status).toBe(200);
    return jsonOf<Samples>(answer);
  }

  function push(key: string, headers = {}): Promise<Answer> {
    return ask(`${weir.url}/v1/ingest`, {
      method: 'POST',
      headers: {
        ...{ Authorization: `Bearer ${key}`, 'X-Forwarded-For': freshClient() },
        ...{ 'Content-Type': 'application/octet-stream', 'Idempotency-Key': 'mine' },
        ...headers,
      },
      body: 'month,metric,industry,value\n',
    });
  }

  test('prints its key at the start', () => {
    expect(demoKey).not.toBe('');
    expect(weir.log).toContain(demoKey);
  });

  test('answers a read without parameters with all fixture samples, without a set-up', async () => {
    const { samples: found, truncated, window } = await samples();
    expect(truncated).toBe(false);
    expect(window.narrowed).toBe(false);
    expect(sorted(found)).toEqual(sorted(expectedSamples(madeAt)));
    expect(found.length).toBe(24 * (23 + 2 * 14));
    expect(found.every(({ sandbox }) => sandbox === false)).toBe(true);
  });

  test('has no sample outside the widest window', async () => {
    const { window } = await samples();
    const before = await samples(`?from=${earlier(window.from, 731)}&to=${window.from}`);
    const after = await samples(`?from=${window.to}&to=${earlier(window.to, -731)}`);
    expect([...before.samples, ...after.samples]).toEqual([]);
  });

  test('leads each sample back to a stored delivery', async () => {
    const found = (await samples()).samples;
    const artifacts = [...new Set(found.map((one) => one.artifact_id))];
    expect(artifacts.length).toBe(2);
    for (const artifact of artifacts) {
      const view = jsonOf<DeliveryView>(await read(`/v1/deliveries/${artifact}`));
      const count = found.filter((one) => one.artifact_id === artifact).length;
      expect(view).toMatchObject({ status: 'parsed', rejections: [], undeclared_fields: [] });
      expect(view.counts).toMatchObject({ samples: count, records: count, rejected: 0, blank: 0 });
    }
    expect(await storedBodies()).toEqual(artifacts.sort());
  });

  test('says in the name of its source which dates were moved, and how far', async () => {
    const { source_id } = await samples();
    const catalog = await openCatalog(sqliteUrl(join(dir, 'catalog.db')), { thread: false });
    const source = await catalog.directory.source(source_id);
    await catalog.close();
    const years = madeAt.getUTCFullYear() - 2009;
    const [oldest, newest] = shownMonths(madeAt).map((date) => date.toISOString().slice(0, 7));
    const moved = `values of ${oldest} to ${newest}, dates moved by ${years} years`;
    expect(source?.name).toBe(`US employment and unemployment (${moved})`);
  });

  test('refuses a push with the demo key', async () => {
    const answer = await push(demoKey);
    expect(answer.status).toBe(403);
    expect(jsonOf(answer)).toMatchObject({ code: 'insufficient_scope' });
  });

  test('refuses a push with any other key, which may read', async () => {
    const { source_id } = await samples();
    for (const more of [['--sandbox'], []]) {
      const made = await weir.cli<{ access_key: string }>(
        ...['key', 'create', source_id, '--scope', 'read_write', ...more],
      );
      const answer = await push(made.access_key);
      expect(answer.status).toBe(403);
      expect(jsonOf(answer)).toMatchObject({ code: 'insufficient_scope' });
      const headers = { Authorization: `Bearer ${made.access_key}` };
      const readAnswer = await ask(`${weir.url}/v1/samples`, { headers });
      expect(readAnswer.status).toBe(200);
      expect(readAnswer.headers['ratelimit-limit']).toBe('60');
    }
    expect((await push('wk_live_unknown')).status).toBe(401);
  });

  test('knows no webhook source, not even one whose signature holds', async () => {
    const { source_id, signing_secret } = await webhookSource();
    const body = Buffer.from('{}');
    const signature = signDelivery(signing_secret, 'event-1', body, Date.now());
    const answer = await ask(`${weir.url}/v1/webhooks/${source_id}`, {
      method: 'POST',
      headers: {
        ...{ 'Content-Type': 'application/json', 'Service-Delivery-Id': 'event-1' },
        'Service-Signature': signature,
      },
      body,
    });
    expect(answer.status).toBe(404);
    expect(jsonOf(answer)).toMatchObject({ code: 'not_found' });
  });

  async function webhookSource() {
    const company = await weir.cli<{ company_id: string }>(
      ...['company', 'create', '--name', 'Other', '--timezone', 'UTC'],
    );
    const owned = ['--company', company.company_id];
    await weir.cli('metric', 'declare', ...owned, '--key', 'm', '--name', 'M', '--unit', 'one');
    const shape = join(dir, 'shape.json');
    const fields = [
      { name: 'day', role: 'period' },
      { name: 'm', role: 'value', metric: 'm' },
    ];
    writeFileSync(shape, JSON.stringify({ fields }));
    return weir.cli<{ source_id: string; signing_secret: string }>(
      ...['source', 'create', ...owned, '--name', 'W', '--delivery', 'webhook', '--shape', shape],
    );
  }

  test('shows the app to everybody as a visitor, who can change nothing', async () => {
    const visitor = appClient(weir.place);
    const session = await visitor('/app/api/session');
    expect(await session.json()).toMatchObject({
      user: { permissions: ['sources.read'] },
      company: { name: 'Demo' },
      ...{ demo: true, fresh_until: null },
    });
    const posts = allEndpoints.filter(({ endpoint }) => endpoint.method === 'POST');
    for (const { endpoint } of posts) {
      const answer = await visitor(endpoint.path.replaceAll(/\{\w+\}/g, 'x'), { json: {} });
      expect([
        endpoint.path,
        answer.status,
        ((await answer.json()) as { code: string }).code,
      ]).toEqual([endpoint.path, 403, 'demo_read_only']);
    }
  });

  test('takes the demo key from the reference site', async () => {
    const Origin = `http://localhost:${weir.place.app}`;
    const answer = await read('/v1/samples', freshClient(), { Origin });
    expect(answer.status).toBe(200);
    expect(answer.headers['access-control-allow-origin']).toBe(Origin);
    const refused = await push(demoKey, { Origin });
    expect(refused.status).toBe(403);
    expect(jsonOf(refused)).toMatchObject({ code: 'insufficient_scope' });
  });

  test('gives a network five reads at once, then one every six seconds', async () => {
    const client = freshClient();
    const inside = client.replace(/7$/, '200');
    const first = [client, inside, client, inside, client];
    for (const [i, one] of first.entries()) {
      const { status, headers } = await read('/v1/samples?to=2020-01-01', one);
      expect(status).toBe(200);
      expect(headers['ratelimit-limit']).toBe('10');
      expect(headers['ratelimit-remaining']).toBe(String(4 - i));
    }
    const sixth = await read('/v1/samples', inside);
    expect(sixth.status).toBe(429);
    expect(jsonOf(sixth)).toMatchObject({ code: 'rate_limited' });
    expect(sixth.headers['ratelimit-remaining']).toBe('0');
    const waitSeconds = Number(sixth.headers['retry-after']);
    expect(waitSeconds).toBeGreaterThanOrEqual(1);
    expect(waitSeconds).toBeLessThanOrEqual(6);
    // What the client wrote itself before the proxy's hop changes nothing.
    expect((await read('/v1/samples', `198.51.100.1, ${client}`)).status).toBe(429);
    expect((await read('/v1/samples', freshClient())).status).toBe(200);
    await sleep(1_000 * waitSeconds);
    expect((await read('/v1/samples', client)).status).toBe(200);
  });

  test('counts all lines of X-Forwarded-For, as some proxies write them', async () => {
    const client = freshClient();
    const answers: number[] = [];
    for (let i = 0; i < 6; i++) {
      const spoofed = { 'X-Forwarded-For': [`198.51.${i}.1`, client] };
      answers.push((await read('/v1/samples?to=2020-01-01', client, spoofed)).status);
    }
    expect(answers).toEqual([200, 200, 200, 200, 200, 429]);
  });

  test('makes nothing twice when it starts again', async () => {
    const before = await samples();
    const bodies = await storedBodies();
    await weir.end();
    await weir.start();
    const again = await samples();
    expect(again.samples).toEqual(before.samples);
    expect(await storedBodies()).toEqual(bodies);
    const listed = await weir.cli<unknown[]>('delivery', 'list', again.source_id);
    expect(listed.length).toBe(bodies.length);
  });

  test('opens nothing with the demo key once it is a demo no more', async () => {
    await weir.end();
    const settings = { ...weir.place.settings, WEIR_DEMO: '0' };
    const plain = new RunningWeir({ ...weir.place, settings });
    await plain.start();
    try {
      const answer = await read('/v1/samples');
      expect(answer.status).toBe(401);
      expect(jsonOf(answer)).toMatchObject({ code: 'unauthenticated' });
      expect((await push(demoKey)).status).toBe(401);
    } finally {
      await plain.end();
    }
  });

  /** The artifact ids of everything in the store. */
  async function storedBodies(): Promise<string[]> {
    const artifacts = openArtifacts(pathToFileURL(join(dir, 'artifacts')).href);
    const ids: string[] = [];
    for await (const { object } of artifacts.list()) {
      ids.push(...(await artifacts.contents(object)).map(({ meta }) => meta.artifactId));
    }
    return ids.sort();
  }
});

type Plain = Omit<Sample, 'artifact_id' | 'sandbox'>;

function sorted(all: readonly Plain[]): string[] {
  return all
    .map(({ metric, period_start, value, labels }) =>
      JSON.stringify([metric, period_start, labels, value]),
    )
    .sort();
}

/** The fixtures computed from the data files alone: 24 months up to this one, as of 2009. */
function expectedSamples(now: Date): Plain[] {
  const years = now.getUTCFullYear() - 2009;
  const [oldest, newest] = shownMonths(now);
  const all: { month: Date; metric: string; labels: Record<string, string>; value: string }[] = [];
  for (const { month, ...values } of employmentRows()) {
    for (const [metric, value] of Object.entries(values)) {
      all.push({ month: new Date(`${month}T00:00:00Z`), metric, labels: {}, value });
    }
  }
  for (const { series, year, month, count, rate } of unemploymentRows()) {
    const of = { month: new Date(Date.UTC(year, month - 1, 1)), labels: { industry: series } };
    all.push({ ...of, metric: 'unemployed', value: String(count) });
    all.push({ ...of, metric: 'unemployment_rate', value: String(rate) });
  }
  return all
    .filter(({ month }) => month >= oldest! && month <= newest!)
    .map(({ month, ...rest }) => {
      const moved = new Date(Date.UTC(month.getUTCFullYear() + years, month.getUTCMonth(), 1));
      return { ...rest, period_start: moved.toISOString().slice(0, 10) };
    });
}

/** The first and the last of the months whose values are shown. */
function shownMonths(now: Date): Date[] {
  const back = (months: number) => new Date(Date.UTC(2009, now.getUTCMonth() - months, 1));
  return [back(23), back(0)];
}

function dataFile(name: string): string {
  return readFileSync(new URL(`../data/${name}`, import.meta.resolve('vega-datasets')), 'utf8');
}

function employmentRows(): (Record<string, string> & { month: string })[] {
  return parseCsv(dataFile('us-employment.csv'), { columns: true });
}

interface UnemploymentRow {
  readonly series: string;
  readonly year: number;
  readonly month: number;
  readonly count: number;
  readonly rate: number;
}

/** The file writes no number with a zero at its end, so that its texts are JavaScript's. */
function unemploymentRows(): UnemploymentRow[] {
  return JSON.parse(dataFile('unemployment-across-industries.json'));
}

function earlier(day: string, days: number): string {
  return new Date(Date.parse(day) - 86_400_000 * days).toISOString().slice(0, 10);
}
