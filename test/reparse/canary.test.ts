import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import { connect } from '../../src/samples/client.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import { accepted } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { sendWebhook } from '../support/webhook.ts';
import { weirCommand } from '../support/weir-command.ts';

/**
 * The text of a personal field is in the artifact and nowhere else (DECISIONS 1):
 * not in the log, an answer, the metrics, ClickHouse, the catalog, an export of rejections.
 */
const canary = 'canary-7f3a';
const fields: readonly Field[] = [
  { name: 'day', role: 'period' },
  { name: 'amount', role: 'value', metric: 'amount' },
  { name: 'email', personal: true, required: false },
];

let weir: TestWeir;
let folder: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'weir-canary-'));
  weir = await TestWeir.start({ WEIR_LOG_LEVEL: 'debug' });
});
afterAll(async () => {
  await weir?.stop();
  rmSync(folder, { recursive: true });
});

/** What was seen of the canary: texts that anybody but the artifact's reader may come by. */
const seen = new Map<string, string>();

async function run(...args: string[]): Promise<{ stdout: string }> {
  const ran = await weirCommand(weir.running.env(), ...args);
  seen.set(args.join(' '), ran.stdout + ran.stderr);
  return ran;
}

async function collect(source: TestSource): Promise<void> {
  const { sender, sourceId } = source;
  seen.set('samples', (await sender.get('/v1/samples?from=2026-01-01&to=2027-01-01')).text);
  await run('delivery', 'list', sourceId, '--json');
  for (const artifact of await source.deliveries()) {
    seen.set(`delivery ${artifact}`, (await sender.get(`/v1/deliveries/${artifact}`)).text);
  }
}

/** Every row that ClickHouse holds, those of its own logs too. */
async function tables(): Promise<string> {
  const address = openEngineAddress(weir.running.place.dataDir);
  const client = connect(address, address.database);
  const read = async <T>(query: string) =>
    await (await client.query({ query, format: 'JSONEachRow' })).json<T>();
  const found = await read<{ database: string; name: string }>(
    `SELECT database, name FROM system.tables
     WHERE engine LIKE '%MergeTree' OR (database = 'system' AND name LIKE '%_log')`,
  );
  expect(found.map(({ name }) => name)).toContain('sample_versions');
  const rows: string[] = [];
  for (const { database, name } of found) {
    rows.push(JSON.stringify(await read(`SELECT * FROM \`${database}\`.\`${name}\``)));
  }
  await client.close();
  return rows.join('\n');
}

/** The bytes of every file in the data directory but the artifacts: the catalog's among them. */
function* files(folder: string): Generator<[path: string, text: string]> {
  for (const name of readdirSync(folder)) {
    const path = join(folder, name);
    const about = statSync(path, { throwIfNoEntry: false });
    if (about?.isDirectory() && name !== 'artifacts') yield* files(path);
    else if (about?.isFile()) yield [path, readFileSync(path, 'latin1')];
  }
}

async function expectNowhere(): Promise<void> {
  const { dataDir, ops } = weir.running.place;
  seen.set('log', weir.running.log);
  seen.set('metrics', await (await fetch(`http://127.0.0.1:${ops}/metrics`)).text());
  seen.set('ClickHouse', await tables());
  seen.set('audit log', JSON.stringify(await weir.catalog.audit.list({ limit: 1_000 })));
  const found = [...seen].filter(([, text]) => text.includes(canary)).map(([where]) => where);
  expect(found).toEqual([]);
  expect(seen.get('log')).not.toBe('');
  const catalog = [...files(dataDir)].filter(([path]) => path.includes('catalog.db'));
  expect(catalog.length).toBeGreaterThan(0);
  expect(catalog.filter(([, text]) => text.includes(canary)).map(([path]) => path)).toEqual([]);
}

const good = { day: '2026-03-01', amount: '1', email: canary };
const bad = { day: '2026-03-02', amount: 'x', email: `${canary} "quoted"` };
const nested = { day: '2026-03-03', amount: '3', email: { [canary]: [canary] } };

const bodies: readonly { format: 'csv' | 'json' | 'ndjson'; body: string; status: string }[] = [
  {
    format: 'csv',
    body: `day,amount,email\n2026-03-01,1,${canary}\n2026-03-02,x,${canary}\n${canary},1\n`,
    status: 'parsed',
  },
  // Without a header the first record is taken for one.
  { format: 'csv', body: `2026-03-01,1,${canary}\n2026-03-02,2,${canary}\n`, status: 'rejected' },
  { format: 'csv', body: `day,amount,email\n2026-03-01,1,"${canary}\n`, status: 'rejected' },
  { format: 'csv', body: `day,amount,email\n2026-03-01,1,a"${canary}"\n`, status: 'rejected' },
  { format: 'json', body: JSON.stringify([good, bad, nested]), status: 'parsed' },
  { format: 'json', body: `[{"email": "${canary}", oops}]`, status: 'rejected' },
  { format: 'json', body: JSON.stringify([canary, [canary], good]), status: 'parsed' },
  { format: 'ndjson', body: `${JSON.stringify(good)}\n{"email":"${canary}\n`, status: 'rejected' },
];

test.each(bodies)(
  'a $format document, $status: $body',
  async ({ format, body, status }) => {
    const source = await weir.source({ delivery: 'document', format, fields });
    const answer = await source.sender.document(body);
    const { artifact_id: artifact } = accepted(answer);
    expect((await source.sender.settled(answer)).status).toBe(status);
    await collect(source);
    const file = join(folder, `${artifact}.ndjson`);
    await run('delivery', 'show', artifact, '--rejections', file, '--json');
    seen.set(`rejections of ${artifact}`, readFileSync(file, 'utf8'));
    const { stdout } = await weirCommand(weir.running.env(), 'delivery', 'download', artifact);
    expect(stdout).toBe(body);
    await expectNowhere();
  },
  60_000,
);

test('pushes and webhooks, accepted and refused', async () => {
  const pushed = await weir.source({ fields });
  const { sender } = pushed;
  await sender.settled(await sender.push(good));
  await sender.settled(await sender.push(bad));
  const refused = [
    await sender.push({ ...good, email: [canary] }),
    await sender.push({ day: '2026-03-01', email: canary }),
    await sender.pushText(`{"payload": {"email": "${canary}`),
  ];
  for (const answer of refused) {
    expect(answer.status).toBe(400);
    seen.set(`refused push ${seen.size}`, answer.text);
  }
  await collect(pushed);
  const hooked = await weir.source({ delivery: 'webhook', fields });
  for (const body of [JSON.stringify([good, bad]), `{"email":"${canary}"`]) {
    await hooked.sender.settled(await sendWebhook(hooked, { body }));
  }
  await collect(hooked);
  await expectNowhere();
}, 60_000);

test('the text of a field that becomes personal is gone once the save has answered', async () => {
  const labelled: readonly Field[] = [
    { name: 'day', role: 'period' },
    { name: 'place', role: 'label' },
    { name: 'device', role: 'label' },
    { name: 'visits', role: 'value', metric: 'visits' },
  ];
  const source = await weir.source({ delivery: 'document', fields: labelled });
  const { sender } = source;
  const csv = (value: string) =>
    `day,place,device,visits\n2026-03-01,${canary},a,${value}\n2026-03-01,${canary},b,${value}\n`;
  for (const value of ['1', '2']) await sender.settled(await sender.document(csv(value)));
  const [artifact] = await source.deliveries();
  await run('reparse', artifact!, '--json');
  expect((await sender.get('/v1/samples?from=2026-01-01&to=2027-01-01')).text).toContain(canary);
  expect(await tables()).toContain(canary);
  const shape = join(folder, 'shape.json');
  const without = [
    ...[
      { name: 'day', role: 'period' },
      { name: 'device', role: 'label' },
    ],
    ...[
      { name: 'visits', role: 'value', metric: 'amount' },
      { name: 'place', personal: true },
    ],
  ];
  writeFileSync(shape, JSON.stringify({ fields: without }));
  const { stdout } = await run('source', 'save', source.sourceId, '--shape', shape, '--json');
  expect(JSON.parse(stdout)).toMatchObject({ withdrawn: 2 });
  seen.delete('samples');
  await collect(source);
  await run('reparse', '--rejected', source.sourceId, '--json');
  await collect(source);
  expect(seen.get('samples')).toContain('"value":"2"');
  await expectNowhere();
}, 60_000);
