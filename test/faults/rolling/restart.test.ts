import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test, vi } from 'vitest';
import { freePorts, RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { startEngineApart } from '../engine-apart.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce } from '../sender.ts';

/**
 * A rolling restart: two services on one catalog and one artifact store share the API's address
 * (WEIR_LISTEN_SHARED) while one takes over from the other. ClickHouse is apart from both.
 */

const restarts = 3;
const senders = 6;

test('a rolling restart loses nothing and shows no error to a client that retries once', {
  timeout: 120_000,
}, async () => {
  const place = await makePlace();
  const engine = await startEngineApart(place);
  const [api] = await freePorts(1);
  const settings = {
    ...{ WEIR_CLICKHOUSE_URL: engine.url, WEIR_LISTEN_SHARED: '1' },
    ...{ WEIR_RATE_PER_MINUTE: '1000000', WEIR_RATE_BURST: '1000000' },
  };
  const next = async () => {
    const [app, ops] = await freePorts(2);
    const { dataDir } = place;
    return new RunningWeir({ dataDir, api: api!, app: app!, ops: ops!, settings });
  };
  let weir = await next();
  try {
    await weir.start();
    const load = startLoad(place, weir.url);
    await sleep(500);
    for (let n = 0; n < restarts; n++) {
      const successor = await next();
      await successor.start();
      const before = load.sent.length;
      await sleep(300);
      const ended = weir.died();
      const since = Date.now();
      process.kill(weir.pid!, 'SIGTERM');
      expect(await ended).toEqual({ code: 0, signal: null });
      expect(Date.now() - since).toBeLessThan(15_000);
      weir = successor;
      const goesOn = () => expect(load.sent.length).toBeGreaterThan(before + 20);
      await vi.waitFor(goesOn, { timeout: 20_000 });
    }
    await load.stop();
    console.log(
      `${restarts} restarts beside ${load.sent.length} deliveries and ${load.reads()} reads: ` +
        `${load.retries()} were sent again`,
    );
    expect(load.failures).toEqual([]);
    expect(await expectNothingLost(place, weir, load.sent)).toBe(0);
  } finally {
    await weir.end('SIGKILL');
    await engine.end();
    await place.remove();
  }
});

/** Senders and a reader who ask once more, at once, after a broken connection or a 5xx. */
function startLoad(place: FaultPlace, url: string) {
  const sent: Sent[] = [];
  const failures: string[] = [];
  let [stopped, retries, reads] = [false, 0, 0];
  type Asked = { status: number; text: string } | null;
  const twice = async (what: string, ask: () => Promise<Asked>, good: number) => {
    const first = await ask();
    if (first?.status === good) return;
    retries += 1;
    const second = await ask();
    if (second?.status === good) return;
    const told = [first, second].map((one) => (one ? `${one.status} ${one.text}` : 'broken'));
    failures.push(`${what}: ${told.join(', then ')}`);
  };
  const sending = Array.from({ length: senders }, async (_, sender) => {
    for (let n = 0; !stopped; n++) {
      const one = deliveryOf(sender, n);
      sent.push(one);
      await twice(one.key, () => sendOnce(place, url, one, AbortSignal.timeout(20_000)), 202);
    }
  });
  const reading = (async () => {
    for (; !stopped; reads++) await twice('a read', () => readOnce(place, url), 200);
  })();
  return {
    ...{ sent, failures },
    retries: () => retries,
    reads: () => reads,
    async stop() {
      stopped = true;
      await Promise.all([...sending, reading]);
    },
  };
}

function deliveryOf(sender: number, n: number): Sent {
  const value = `${n}.${sender}1`;
  if (n % 4 > 0) return pushOf(`s${sender}-${n}`, dayText(n % 40), value);
  const lines = Array.from({ length: 1 + (n % 8) * 400 }, (_, i) => ({
    ...{ period: dayText(i % 700), page: `/${Math.floor(i / 700)}`, value: `${value}${i}` },
  }));
  return documentOf(`d${sender}-${n}`, lines);
}

async function readOnce(place: FaultPlace, url: string) {
  try {
    const answer = await fetch(`${url}/v1/samples?from=${dayText(0)}&to=${dayText(730)}`, {
      headers: { Authorization: `Bearer ${place.push.accessKey}` },
      signal: AbortSignal.timeout(20_000),
    });
    return { status: answer.status, text: await answer.text() };
  } catch {
    return null;
  }
}
