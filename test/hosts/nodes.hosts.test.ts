import { randomUUID } from 'node:crypto';
import http from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog } from '../../src/catalog/open.ts';
import { randomOf, startLoad } from '../faults/load.ts';
import { expectNothingLost } from '../faults/oracle.ts';
import { declareSources, type SentTo } from '../faults/place.ts';
import { dayText, pushOf, type Sent } from '../faults/sender.ts';
import { protocolSuite } from '../protocol/suite.ts';
import { accountingDifference } from '../support/metrics-of.ts';
import { describeWith } from '../support/need.ts';
import { seedOf } from '../support/seed.ts';
import { manyRequests, TestWeir } from '../support/test-weir.ts';
import { type Cluster, type Part, startCluster } from './cluster.ts';
import { FrontOfCluster } from './front.ts';
import { networkOrSkip } from './network.ts';

/** Of the storm of duplicates. */
const storm = { keys: 500, senders: 64 };

describeWith(
  'three weirs behind HAProxy, each part on a host of its own',
  await networkOrSkip(),
  () => {
    let cluster: Cluster;
    let catalog: Catalog;
    beforeAll(async () => {
      cluster = await startCluster(3, manyRequests);
      catalog = await openCatalog(cluster.catalogUrl, { thread: true });
    });
    afterAll(async () => {
      await catalog?.close();
      await cluster?.stop();
    });

    async function place(): Promise<SentTo> {
      return { ...(await declareSources(catalog)), catalog, dataDir: cluster.engineDir };
    }
    async function expectAllKept(to: SentTo, sent: readonly Sent[]): Promise<void> {
      const front = { ...cluster.nodes[0]!, url: cluster.url };
      await expectNothingLost(to, front, sent, cluster.artifactsUrl);
      for (const node of cluster.nodes) expect(await accountingDifference(node)).toBe(0);
    }

    // All of it runs on one node elsewhere; heads and framing HAProxy judges by itself.
    protocolSuite(
      'through HAProxy',
      () => TestWeir.over(new FrontOfCluster(cluster), cluster.catalogUrl, cluster.artifactsUrl),
      ['receipts', 'a document of 8 MiB'],
    );

    test('500 keys by 64 senders over all nodes are 500 deliveries', {
      timeout: 180_000,
    }, async () => {
      const to = await place();
      const pushes = Array.from({ length: storm.keys }, (_, i) =>
        pushOf(randomUUID(), dayText(i), `1.${i}`),
      );
      const receipts = pushes.map(() => new Set<string>());
      const send = async (sender: number) => {
        const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
        for (let n = 0; n < pushes.length; n++) {
          // Each begins elsewhere, so that equals meet on different nodes at the same time.
          const i = (n + sender * 7) % pushes.length;
          const node = cluster.nodes[(n + sender) % cluster.nodes.length]!;
          const answer = await post(agent, node.url, to.push.accessKey, pushes[i]!.body);
          expect(answer.status, answer.text).toBe(202);
          receipts[i]!.add(answer.text);
        }
        agent.destroy();
      };
      await Promise.all(Array.from({ length: storm.senders }, (_, sender) => send(sender)));
      for (const [i, push] of pushes.entries()) push.receipts.push(...receipts[i]!);
      await expectAllKept(to, pushes);
    });

    test('a revoked key is refused by the next request, on every node', async () => {
      const to = await place();
      const keyOf = () => catalog.directory.keys(to.push.sourceId);
      const [key] = await keyOf();
      const statuses = (urls: readonly string[]) =>
        Promise.all(urls.map((url) => read(url, to.push.accessKey)));
      const urls = [...cluster.nodes.map((node) => node.url), cluster.url];
      expect(await statuses(urls)).toEqual([200, 200, 200, 200]);
      await catalog.directory.revokeKey(key!.keyId, Date.now());
      expect(await statuses(urls)).toEqual([401, 401, 401, 401]);
    });

    test('whatever is killed or cut off under load, nothing is lost and nothing twice', {
      timeout: 240_000,
    }, async () => {
      const random = randomOf(seedOf('faults of hosts'));
      const to = await place();
      const load = startLoad(to, cluster.url, random, 6);
      const { nodes, postgres, redis, minio, engine, proxy } = cluster;
      const [first, second, third] = nodes;
      const faults: [Part, 'kill' | 'cut'][] = [
        ...[first!, postgres, minio, redis, engine, proxy].map((part): [Part, 'kill'] => [
          part,
          'kill',
        ]),
        ...[second!, postgres, minio, redis, engine, third!].map((part): [Part, 'cut'] => [
          part,
          'cut',
        ]),
      ];
      for (const [part, fault] of faults) {
        await sleep(300 + random(300));
        const before = load.sent.length;
        if (fault === 'kill') await part.kill();
        else await part.cut();
        await sleep(500 + random(700));
        if (fault === 'kill') await part.restart();
        else await part.mend();
        // Not one fault upon the other: each finds a cluster that takes deliveries.
        await expect.poll(() => load.sent.length, { timeout: 60_000 }).toBeGreaterThan(before + 6);
      }
      await load.stop();
      for (const node of nodes) await readyAgain(node.opsUrl);
      await expectAllKept(to, load.sent);
      console.log(`${load.sent.length} deliveries under ${faults.length} faults`);
    });
  },
);

async function read(url: string, key: string): Promise<number> {
  const answer = await fetch(`${url}/v1/samples`, { headers: { Authorization: `Bearer ${key}` } });
  await answer.arrayBuffer();
  return answer.status;
}

async function readyAgain(opsUrl: string): Promise<void> {
  const ready = async () => (await fetch(`${opsUrl}/readyz`)).status;
  await expect.poll(() => ready().catch(() => 0), { timeout: 30_000 }).toBe(200);
}

function post(
  agent: http.Agent,
  url: string,
  key: string,
  body: Buffer,
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
    const request = http.request(`${url}/v1/ingest`, { method: 'POST', agent, headers });
    request.on('error', reject);
    request.on('response', (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => resolve({ status: response.statusCode!, text }));
    });
    request.end(body);
  });
}
