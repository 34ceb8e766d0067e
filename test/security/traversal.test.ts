import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { ArtifactMeta } from '../../src/artifacts/artifacts.ts';
import { isObjectName } from '../../src/artifacts/object-name.ts';
import { openArtifacts } from '../../src/artifacts/open.ts';
import { recover } from '../../src/upkeep/recover.ts';
import { type ApiHere, startApiHere } from '../support/api-here.ts';
import { ask } from '../support/ask.ts';
import { StorePlace } from '../support/store-place.ts';
import { signature } from '../support/webhook.ts';

/** Nothing that a caller sends, and nothing that a store holds, names a file elsewhere. */

const hostile = [
  '../../../../tmp/weir-escaped',
  '..\\..\\weir-escaped',
  '/tmp/weir-escaped',
  '....//....//weir-escaped',
  '2026/01/01/../../../../weir-escaped',
  'file:///tmp/weir-escaped',
  '%2e%2e%2fweir-escaped',
  '..',
  '.',
  'CON',
  '$(touch weir-escaped)',
  '~root/weir-escaped',
];

describe('what callers send', () => {
  let root: string;
  let api: ApiHere;
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'weir-traversal-'));
    const settings = { WEIR_RATE_PER_MINUTE: '10000', WEIR_RATE_BURST: '10000' };
    const artifacts = pathToFileURL(join(root, 'deep', 'er', 'artifacts')).href;
    api = await startApiHere({ ...settings, WEIR_ARTIFACTS_URL: artifacts });
  });
  afterAll(async () => {
    await api?.stop();
    await rm(root, { recursive: true });
  });

  test('as idempotency keys and media types is stored in the store alone', async () => {
    const push = await api.source();
    const documents = await api.source('document');
    for (const [i, text] of hostile.entries()) {
      const payload = { day: '2026-03-01', amount: String(i), [text]: text };
      const body = JSON.stringify({ idempotency_key: text, shape_version: 1, payload });
      expect(await ingest(push.key, body, { 'Content-Type': 'application/json' })).toBe(202);
      const headers = { 'Content-Type': `application/octet-stream; name="${text}"` };
      const key = { 'Idempotency-Key': text.replaceAll(' ', '_') };
      // Large enough to be an object of its own, with its key and type beside it.
      const document = `day,amount\n${'2026-03-01,1\n'.repeat(6_000)}#${i}`;
      expect(await ingest(documents.key, document, { ...headers, ...key })).toBe(202);
    }
    const files = await filesBelow(root);
    expect(files.length).toBeGreaterThan(2 * hostile.length);
    const wrong = files.filter((file) => !/^deep\/er\/artifacts\/(mark\.json$|\d{4}\/)/.test(file));
    expect(wrong).toEqual([]);
    const names = files.map((file) => file.replace('deep/er/artifacts/', ''));
    const odd = names.filter((name) => !isObjectName(name.replace(/\.json$/, '')));
    expect(odd).toEqual([]);
  });

  test('as delivery ids of webhooks is refused or stored in the store alone', async () => {
    const hook = await api.source('webhook');
    const before = await filesBelow(root);
    const time = Math.floor(api.now / 1_000);
    for (const id of hostile) {
      const body = `{"day":"2026-03-01","amount":"1","note":${JSON.stringify(id)}}`;
      const headers = {
        'Content-Type': 'application/json',
        'Service-Delivery-Id': id,
        'Service-Signature': `t=${time},v1=${signature(hook.secret, time, id, body)}`,
      };
      const url = `${api.url}/v1/webhooks/${hook.sourceId}`;
      const { status } = await ask(url, { method: 'POST', headers, body });
      expect([id, status]).toEqual([id, /^[A-Za-z0-9_:-]+$/.test(id) ? 202 : 400]);
    }
    const made = (await filesBelow(root)).filter((file) => !before.includes(file));
    expect(made.filter((file) => !file.endsWith('.segment'))).toEqual([]);
  });

  test.each(['deliveries', 'webhooks'])('as ids in addresses of %s finds nothing', async (what) => {
    const source = await api.source();
    const method = what === 'webhooks' ? 'POST' : 'GET';
    const time = Math.floor(api.now / 1_000);
    const signed = {
      'Content-Type': 'application/json',
      'Service-Delivery-Id': 'id',
      'Service-Signature': `t=${time},v1=${'a'.repeat(64)}`,
    };
    for (const text of [...hostile, '%2e%2e%2f%2e%2e%2fmark.json', '..%2fcatalog.db', '%00']) {
      const path = `/v1/${what}/${encodeURI(text)}`;
      const headers = { Authorization: `Bearer ${source.key}`, ...signed };
      const answer = await ask(`${api.url}${path}`, { method, headers });
      expect([path, answer.status]).toEqual([path, 404]);
      expect(JSON.parse(answer.text).code).toBe('not_found');
    }
  });

  async function ingest(key: string, body: string, headers: Record<string, string>) {
    const own = { Authorization: `Bearer ${key}`, ...headers };
    const answer = await ask(`${api.url}/v1/ingest`, { method: 'POST', headers: own, body });
    return answer.status;
  }
});

describe('what a store holds', () => {
  test.each(hostile)('a name such as %s opens no file', async (name) => {
    const place = await StorePlace.open();
    try {
      await writeFile(join(place.dir, 'weir-escaped'), 'secret');
      const { artifacts } = place;
      const where = { object: name, offset: 0, length: 1 };
      await expect(artifacts.read(where)).rejects.toThrow(/an object's name is a day and a uuid/);
      await expect(artifacts.contents(name)).rejects.toThrow(/an object's name is/);
      await expect(artifacts.remove(name)).rejects.toThrow(/an object's name is/);
      const meta = { artifactId: name } as ArtifactMeta;
      expect(() => artifacts.begin(name, 1, meta)).toThrow(/an object's name is/);
    } finally {
      await place.close();
    }
  });

  test.each(hostile)('metadata that names %s brings nothing back from elsewhere', async (name) => {
    const place = await StorePlace.open();
    try {
      const good = await place.object(Date.now());
      const path = `${place.path(good.object)}.json`;
      const sidecar = JSON.parse(await readFile(path, 'utf8')) as object;
      const lies = { artifactId: name, object: name, path: name, place: { object: name } };
      await writeFile(path, JSON.stringify({ ...sidecar, ...lies }));
      const before = await filesBelow(place.dir);
      const found = await recover(place);
      expect(found.objects).toMatchObject([{ object: good.object, outcome: 'failed' }]);
      expect(await place.catalog.deliveries.list(place.sourceId, { limit: 10 })).toEqual([]);
      const made = (await filesBelow(place.dir)).filter((file) => !before.includes(file));
      expect(made.filter((file) => !/^(catalog\.db|artifacts\/mark\.json)/.test(file))).toEqual([]);
    } finally {
      await place.close();
    }
  });

  test('an index that names bodies elsewhere is damaged as a whole', async () => {
    const place = await StorePlace.open();
    try {
      const now = Date.now();
      const [one] = await place.segment([{ receivedAt: now }, { receivedAt: now }]);
      const path = place.path(one!.object);
      const forged = forgeIndex(await readFile(path), (line) => ({
        ...line,
        artifactId: '../../../../weir-escaped',
      }));
      await writeFile(path, forged);
      const reading = openArtifacts(pathToFileURL(join(place.dir, 'artifacts')).href);
      await expect(reading.contents(one!.object)).rejects.toThrow(/a line of it is incomplete/);
      await reading.close();
    } finally {
      await place.close();
    }
  });

  test('folders that are none of its own are passed over', async () => {
    const place = await StorePlace.open();
    try {
      const good = await place.object(Date.now());
      await mkdir(join(place.dir, 'artifacts', '..2026', '01', '01'), { recursive: true });
      await writeFile(join(place.dir, 'artifacts', '..2026', '01', '01', 'x'), 'x');
      const listed: string[] = [];
      for await (const { object } of place.artifacts.list()) listed.push(object);
      expect(listed).toEqual([good.object]);
    } finally {
      await place.close();
    }
  });
});

/** Rewrites the lines of a segment's index, with a footer whose hash is right again. */
function forgeIndex(bytes: Buffer, change: (line: object) => object): Buffer {
  const footer = Buffer.from(bytes.subarray(bytes.length - 56));
  const bodyBytes = footer.readUInt32BE(40);
  const index = bytes.subarray(bodyBytes, bytes.length - 56).toString();
  const lines = index.split('\n').slice(0, -1);
  const forged = Buffer.from(
    lines.map((line) => `${JSON.stringify(change(JSON.parse(line)))}\n`).join(''),
  );
  footer.writeUInt32BE(forged.length, 44);
  const hashed = createHash('sha256').update(forged).update(footer.subarray(32)).digest();
  hashed.copy(footer);
  return Buffer.concat([bytes.subarray(0, bodyBytes), forged, footer]);
}

async function filesBelow(root: string): Promise<string[]> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => relative(root, join(entry.parentPath, entry.name)))
    .sort();
}
