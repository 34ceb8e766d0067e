import { createHash, randomBytes, randomUUID } from 'node:crypto';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import { ClientAddress } from '../../src/http/client-address.ts';
import { listen } from '../../src/http/listener.ts';
import { ReferenceSite } from '../../src/http/reference-site.ts';
import { memoryRates } from '../../src/rates/memory.ts';
import type { SampleStore } from '../../src/samples/samples.ts';
import { samplesRoute } from '../../src/serve/samples.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';
import type { Clock } from '../../src/std/clock.ts';
import { ask } from './ask.ts';

const rate = { perMinute: 1_000_000_000, burst: 1_000_000_000 };

/** Window reads over HTTP, as one process of a service answers them: it keeps its own answers. */
export interface ReadingApi {
  /** How often the sample store was asked. */
  readonly queries: number;
  /** @returns the samples, as the text of a JSON array */
  read(sourceId: string, query?: string): Promise<string>;
  stop(): Promise<void>;
}

/** @param catalog a handle of its own, closed by whoever opened it */
export async function startReadingApi(
  catalog: Catalog,
  store: Pick<SampleStore, 'window'>,
  clock: Clock,
): Promise<ReadingApi> {
  const [port] = await freePorts(1);
  let queries = 0;
  const samples: typeof store = {
    window(query) {
      queries += 1;
      return store.window(query);
    },
  };
  const admission = {
    ...{ lookup: catalog.lookup, rates: memoryRates(clock), keyRate: rate, demoRate: rate, clock },
    ...{ site: new ReferenceSite([]), addresses: new ClientAddress([]), demo: false },
    noteUse: () => {},
  };
  const failures: unknown[] = [];
  const log = { error: (fields: object) => void failures.push(fields) };
  const routes = [samplesRoute({ admission, samples })];
  const listener = await listen({ host: '127.0.0.1', port: port! }, routes, log);
  const keys = new Map<string, Promise<string>>();
  return {
    get queries() {
      return queries;
    },
    async read(sourceId, query = '') {
      const key = keys.get(sourceId) ?? newKey(catalog, sourceId);
      keys.set(sourceId, key);
      const headers = { Authorization: `Bearer ${await key}` };
      const answer = await ask(`http://127.0.0.1:${port}/v1/samples?${query}`, { headers });
      if (answer.status !== 200) throw new Error(`${answer.text} ${JSON.stringify(failures)}`);
      return JSON.stringify(JSON.parse(answer.text).samples);
    },
    stop: () => listener.close(0),
  };
}

async function newKey(catalog: Catalog, sourceId: string): Promise<string> {
  const text = formatKey('live', randomBytes(keyRandomBytes));
  const hash = createHash('sha256').update(text).digest();
  const key = { keyId: randomUUID(), sourceId, hash, scope: 'read', sandbox: false } as const;
  await catalog.directory.createKey({ ...key, expiresAt: Number.MAX_SAFE_INTEGER }, 1);
  return text;
}
