import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type Engine, startEngine } from '../../../src/samples/engine/supervisor.ts';
import type { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText } from '../sender.ts';
import { type HttpProxy, type Passing, startHttpProxy, type Treat } from './http-proxy.ts';
import { startPacedLoad } from './paced-load.ts';

const timeout = 120_000;
const eachMs = 900;
const perSecond = 60;
const quiet = { info() {}, warn() {} };

let place: FaultPlace;
let engine: Engine;
let proxy: HttpProxy;
let weir: RunningWeir;
let treat: Treat;

beforeEach(async () => {
  place = await makePlace();
  engine = await startEngine({ dataDir: place.dataDir, listen: '127.0.0.1:0', log: quiet });
  const { url, username, password, database } = engine.address;
  treat = (passing) => passing.ask();
  proxy = await startHttpProxy(Number(new URL(url).port), (passing) => treat(passing));
  const through = `http://${username}:${password}@127.0.0.1:${proxy.port}/${database}`;
  weir = place.weir({ WEIR_CLICKHOUSE_URL: through });
  await weir.start();
}, timeout);
afterEach(async () => {
  await weir.end('SIGKILL');
  await proxy.stop();
  await engine.stop();
  await place.remove();
});

const isInsert = ({ url }: Passing) => /[?&]query=INSERT/i.test(url);

function failed(status: number, code: string) {
  const body = Buffer.from(`Code: ${code}. DB::Exception: so it says.`);
  const headers = ['X-ClickHouse-Exception-Code', code, 'Content-Length', String(body.length)];
  return { status, headers, body };
}

/** What becomes of an insert, one kind after the other. */
const faults: readonly { readonly name: string; readonly treat: Treat }[] = [
  {
    name: 'done, and its reply cut',
    async treat(passing) {
      await passing.ask();
      return 'cut';
    },
  },
  {
    name: 'done, and an error answered',
    async treat(passing) {
      await passing.ask();
      return failed(500, '210');
    },
  },
  {
    name: 'done late',
    async treat(passing) {
      await sleep(700);
      return passing.ask();
    },
  },
  { name: 'refused: too much memory', treat: async () => failed(500, '241') },
  { name: 'refused without a code', treat: async () => failed(503, '') },
  { name: 'cut before it began', treat: async () => 'cut' },
];

test('inserts whose replies are cut, late or wrong make nothing twice and lose nothing', {
  timeout,
}, async () => {
  const load = startPacedLoad(place, weir.url, perSecond);
  await sleep(500);
  const told: Record<string, number> = {};
  for (const fault of faults) {
    let count = 0;
    treat = (passing) => {
      if (!isInsert(passing)) return passing.ask();
      count += 1;
      return fault.treat(passing);
    };
    await sleep(eachMs);
    told[fault.name] = count;
  }
  treat = (passing) => passing.ask();
  const healed = performance.now();
  await load.stop();
  expect(await expectNothingLost(place, weir, load.sent)).toBe(0);
  console.log(told, `all parsed ${(performance.now() - healed).toFixed(0)} ms after the last`);
  expect(Object.fromEntries(load.answers)).toEqual({ 202: load.sent.length });
  for (const [name, count] of Object.entries(told)) expect(count, name).toBeGreaterThan(0);
});

test('a parse again whose replies are cut gives the same samples, once', {
  timeout,
}, async () => {
  const load = startPacedLoad(place, weir.url, perSecond);
  await sleep(500);
  await load.stop();
  const one = load.sent.at(-1)!;
  const { artifact_id } = JSON.parse(one.receipts[0]!) as { artifact_id: string };
  const parsed = async () => (await place.catalog.queue.backlog()).deliveries;
  await expect.poll(parsed, { timeout: 20_000 }).toBe(0);
  const before = await readSamples();
  expect(before.length).toBeGreaterThan(10);
  let cut = 0;
  treat = async (passing) => {
    const answer = await passing.ask();
    // The rows, the generation that stands, and the statement that settles: each once.
    if (!/INSERT/i.test(passing.url + passing.body.toString('latin1', 0, 200))) return answer;
    cut += 1;
    return cut > 3 ? answer : 'cut';
  };
  await weir.cli('reparse', artifact_id);
  expect(cut).toBeGreaterThan(3);
  expect(await readSamples()).toEqual(before);
});

async function readSamples(): Promise<unknown[]> {
  const found: unknown[] = [];
  for (const { accessKey } of [place.push, place.document]) {
    const answer = await fetch(`${weir.url}/v1/samples?from=${dayText(0)}&to=${dayText(100)}`, {
      headers: { Authorization: `Bearer ${accessKey}` },
    });
    expect(answer.status).toBe(200);
    found.push(...((await answer.json()) as { samples: unknown[] }).samples);
  }
  return found;
}
