import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { freePorts, isFree, RunningWeir } from '../../src/start/demo/running-weir.ts';
import { startEngineApart } from '../faults/engine-apart.ts';
import { type FaultPlace, makePlace } from '../faults/place.ts';
import { dayText, pushOf, sendOnce } from '../faults/sender.ts';

/** The roles of one service in services of their own, on one data directory. */
describe('roles apart', { timeout: 60_000 }, () => {
  let place: FaultPlace;
  let engine: Awaited<ReturnType<typeof startEngineApart>>;
  let accept: RunningWeir;
  let parse: RunningWeir;
  let read: RunningWeir;

  beforeAll(async () => {
    place = await makePlace();
    engine = await startEngineApart(place);
    const settings = { WEIR_CLICKHOUSE_URL: engine.url };
    // Who only accepts has no use for ClickHouse, and starts none.
    accept = await service({}, '--roles', 'accept');
    parse = await service(settings, '--roles', 'parse', '--processes', '2');
    read = await service(settings, '--roles', 'serve,app');
    await Promise.all([accept, parse, read].map((weir) => weir.start()));
  }, 90_000);

  afterAll(async () => {
    await Promise.all([accept, parse, read].map((weir) => weir?.end('SIGKILL')));
    await engine?.end();
    await place?.remove();
  });

  async function service(settings: Record<string, string>, ...args: string[]) {
    const [api, app, ops] = await freePorts(3);
    const { dataDir } = place;
    return new RunningWeir({ dataDir, api: api!, app: app!, ops: ops!, settings, args });
  }

  test('what one accepts another parses, and a third one reads', async () => {
    const sent = pushOf('a push', dayText(3), '10.50');
    expect((await sendOnce(place, accept.url, sent))?.status).toBe(202);
    const address = `${read.url}/v1/samples?from=${dayText(0)}&to=${dayText(40)}`;
    const headers = { Authorization: `Bearer ${place.push.accessKey}` };
    await vi.waitFor(
      async () => {
        const answer = await (await fetch(address, { headers })).json();
        const samples = [{ period_start: dayText(3), value: '10.50' }];
        expect(answer).toMatchObject({ samples });
      },
      { timeout: 20_000, interval: 50 },
    );
  });

  test('each has the addresses of its roles, and no other', async () => {
    const headers = { Authorization: `Bearer ${place.push.accessKey}` };
    expect((await fetch(`${accept.url}/v1/samples`, { headers })).status).toBe(404);
    expect((await fetch(`${accept.url}/openapi.json`)).status).toBe(404);
    expect((await fetch(`${accept.url}/v1/ingest`, { method: 'POST' })).status).toBe(401);
    expect((await fetch(`${read.url}/v1/ingest`, { method: 'POST' })).status).toBe(404);
    expect((await fetch(`${read.url}/openapi.json`)).status).toBe(200);
    const free = [accept, parse, read].map(async ({ place: { api, app } }) => [
      ...[await isFree(api), await isFree(app)],
    ]);
    expect(await Promise.all(free)).toEqual([
      ...[
        [false, true],
        [true, true],
      ],
      [false, false],
    ]);
  });

  test('each is ready by what it uses', async () => {
    const partsOf = async ({ place: { ops } }: RunningWeir) => {
      const answer = await fetch(`http://127.0.0.1:${ops}/readyz`);
      return Object.keys(((await answer.json()) as { parts: object }).parts);
    };
    expect(await partsOf(accept)).toEqual(['catalog', 'artifacts', 'accepting']);
    expect(await partsOf(parse)).toEqual(['catalog', 'artifacts', 'samples']);
    expect(await partsOf(read)).toEqual(['catalog', 'artifacts', 'samples']);
    for (const one of [accept, parse, read]) expect(one.log).not.toContain('engine ready');
  });
});
