import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { randomOf, startLoad } from '../faults/load.ts';
import { expectNothingLost } from '../faults/oracle.ts';
import { enginePid, type FaultPlace, makePlace } from '../faults/place.ts';
import { dayText, documentOf, pushOf, type Sent, sendOnce } from '../faults/sender.ts';
import { isAlive } from '../support/alive.ts';
import { metricsOf } from '../support/metrics-of.ts';
import { head, RawSocket } from '../support/raw-socket.ts';
import { seedOf } from '../support/seed.ts';
import { weirCommand } from '../support/weir-command.ts';
import { connectionsOf, pidsOf } from './seen-from-outside.ts';

/** One service of two processes: it is used, hurt, and stopped; every delivery is accounted for. */

const two = ['--processes', '2'];

describe('two processes of one service', { timeout: 60_000 }, () => {
  const sent: Sent[] = [];
  let place: FaultPlace;
  let weir: RunningWeir;

  beforeAll(async () => {
    place = await makePlace();
    weir = place.weir({}, two);
    await weir.start();
  }, 60_000);

  afterAll(() => place?.remove());

  test('both take connections of the API and of the app', async () => {
    const pids = pidsOf(weir);
    expect([...pids.keys()].sort()).toEqual([1, 2]);
    for (const port of [weir.place.api, weir.place.app]) {
      const sockets = await Promise.all(Array.from({ length: 40 }, () => RawSocket.open(port)));
      for (const socket of sockets) socket.write(head('GET /openapi.json', {}));
      const answers = await Promise.all(sockets.map((socket) => socket.answer()));
      expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
      const served = [...pids.values()].map((pid) => connectionsOf(pid, port));
      expect(served[0]! + served[1]!).toBeGreaterThanOrEqual(40);
      expect(Math.min(...served)).toBeGreaterThan(0);
      for (const socket of sockets) socket.destroy();
    }
  });

  test('16 senders of each of 100 pushes make 100 deliveries', async () => {
    const storm = Array.from({ length: 100 }, (_, n) =>
      pushOf(`storm-${n}`, dayText(n % 40), `${n}.5`),
    );
    sent.push(...storm);
    const all = storm.flatMap((one) => Array.from({ length: 16 }, () => one));
    const answers = await Promise.all(all.map((one) => sendOnce(place, weir.url, one)));
    expect(answers.map((answer) => answer?.status)).toEqual(all.map(() => 202));
    expect(await place.catalog.deliveries.list(place.push.sourceId, { limit: 1_000 })).toHaveLength(
      100,
    );
  });

  test('metrics and health are of both together', async () => {
    const before = await metricsOf(weir);
    await Promise.all(Array.from({ length: 60 }, () => fetch(`${weir.url}/openapi.json`)));
    const values = await metricsOf(weir);
    const answered = 'weir_requests_total{route="/openapi.json",status="200"}';
    expect(values.get(answered)! - before.get(answered)!).toBe(60);
    expect(values.get('weir_receipts_total{kind="push"}')).toBe(100);
    expect(values.get('weir_receipts_total{kind="replayed_key"}')).toBe(1_500);
    expect(values.get('weir_processes')).toBe(2);
    expect(values.get('weir_accepting')).toBe(1);
    const parts = { catalog: 'ok', artifacts: 'ok', samples: 'ok', accepting: 'ok' };
    expect(await readyz(weir)).toEqual([200, { status: 'ready', parts }]);
  });

  test('a process that is killed under load loses nothing and comes back', async () => {
    const load = startLoad(place, weir.url, randomOf(seedOf('process kills')), 2);
    await sleep(200);
    const counted = (await metricsOf(weir)).get('weir_receipts_total{kind="push"}')!;
    // The first one, which has more to do than the others.
    const killed = pidsOf(weir).get(1)!;
    process.kill(killed, 'SIGKILL');
    await vi.waitFor(async () => {
      const [status, { parts }] = await readyz(weir);
      expect([status, parts]).toEqual([503, expect.objectContaining({ 'process 1': 'away' })]);
    }, waits);
    await vi.waitFor(async () => expect((await readyz(weir))[0]).toBe(200), waits);
    expect(pidsOf(weir).get(1)).not.toBe(killed);
    const after = (await metricsOf(weir)).get('weir_receipts_total{kind="push"}')!;
    expect(after).toBeGreaterThanOrEqual(counted);
    await load.stop();
    sent.push(...load.sent);
    expect(weir.log).toContain('a process ended; starting it again');
    // A body may have become durable whose receipt was not: its sender sent it again.
    expect(await expectNothingLost(place, weir, sent)).toBeLessThan(10);
  });

  test('another service on its addresses is refused with one line', async () => {
    const env = { ...weir.env(), WEIR_DATA_DIR: `${place.dataDir}/other` };
    // Where its own listeners are free, the app's is not.
    const refused = await Promise.all([
      weirCommand({ ...env, WEIR_OPS_LISTEN: '127.0.0.1:0' }, 'serve', ...two),
      weirCommand({ ...env, WEIR_DATA_DIR: `${place.dataDir}/third` }, 'serve', '--roles', 'app'),
    ]);
    for (const { code, stderr } of refused) {
      expect(code).toBe(1);
      expect(stderr).toMatch(/^weir: the address [^\n]+ cannot be listened on\n$/);
    }
  });

  test('SIGTERM answers what is under way in both, and ends all', async () => {
    const pids = [...pidsOf(weir).values(), enginePid(weir)];
    const begun = await Promise.all(
      Array.from({ length: 12 }, async (_, n) => {
        const one = documentOf(`last-${n}`, [{ period: dayText(n), page: '/', value: `${n}.25` }]);
        const socket = await RawSocket.open(weir.place.api);
        socket.write(documentHead(one.body.length, one.key));
        socket.write(one.body.subarray(0, 10));
        return { one, socket };
      }),
    );
    await sleep(200);
    const served = [...pidsOf(weir).values()].map((pid) => connectionsOf(pid, weir.place.api));
    expect(Math.min(...served)).toBeGreaterThan(0);
    const ended = weir.died();
    process.kill(weir.pid!, 'SIGTERM');
    await sleep(300);
    for (const { one, socket } of begun) socket.write(one.body.subarray(10));
    for (const { one, socket } of begun) {
      const { status, body } = await socket.answer();
      expect([status, JSON.parse(body).status]).toEqual([202, 'queued']);
      one.receipts.push(body);
      sent.push(one);
      socket.destroy();
    }
    expect(await ended).toEqual({ code: 0, signal: null });
    expect(pids.filter(isAlive)).toEqual([]);
  });

  test('rates hold to the token; a killed supervisor leaves no process behind', async () => {
    weir = place.weir({ WEIR_RATE_PER_MINUTE: '1', WEIR_RATE_BURST: '20' }, two);
    await weir.start();
    const ask = async () => {
      const socket = await RawSocket.open(weir.place.api);
      const authorization = { Authorization: `Bearer ${place.push.accessKey}` };
      socket.write(head('GET /v1/deliveries/00000000-0000-7000-8000-000000000000', authorization));
      const { status } = await socket.answer();
      socket.destroy();
      return status;
    };
    const statuses = await Promise.all(Array.from({ length: 200 }, ask));
    expect(statuses.filter((status) => status !== 429)).toEqual(Array(20).fill(404));

    const pids = [...pidsOf(weir).values(), enginePid(weir)];
    expect(pids.filter(isAlive)).toHaveLength(3);
    await weir.end('SIGKILL');
    await vi.waitFor(() => expect(pids.filter(isAlive)).toEqual([]), waits);
    // And everything can be had again at once.
    weir = place.weir({}, two);
    await weir.start();
    const again = await sendOnce(place, weir.url, sent[0]!);
    expect(again?.headers.get('Idempotency-Replayed')).toBe('true');
  });

  function documentHead(length: number, key: string): string {
    return head('POST /v1/ingest', {
      Authorization: `Bearer ${place.document.accessKey}`,
      'Content-Type': 'application/octet-stream',
      'Content-Length': String(length),
      'Idempotency-Key': key,
    });
  }
});

const waits = { timeout: 20_000, interval: 20 };

async function readyz(weir: RunningWeir): Promise<[number, Record<string, unknown>]> {
  const answer = await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`);
  return [answer.status, (await answer.json()) as Record<string, unknown>];
}
