import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExampleOf, exampleRecord, sendingExamples } from '../../src/console/examples.ts';
import type { DeliveryWay, DocumentFormat, Field } from '../../src/domain/nouns.ts';
import { describeWith } from '../support/need.ts';
import { need } from '../support/needed.ts';
import { TestWeir } from '../support/test-weir.ts';

/** Names that a shell, a program or a CSV could take for something else. */
const fields: readonly Field[] = [
  { name: 'the "day", it\'s', role: 'period', grain: 'week' },
  { name: '$HOME `id` \\n', role: 'value', metric: 'visits' },
  { name: 'Gerät', role: 'label', label: 'device' },
  { name: 'place', role: 'label', required: false },
  { name: 'e-mail', personal: true },
  { name: 'note', required: false },
];
const visits = { key: 'visits', name: 'Visits', unit: 'one', labels: ['device', 'place'] };

const tools = ['curl', 'Node', 'Python'] as const;
type Tool = (typeof tools)[number];

/** What they are run with; each is asked for its version. */
const programs = await need('curl, openssl and python3', async () => {
  for (const [program, argument] of [
    ['curl', '--version'],
    ['openssl', 'version'],
    ['python3', '--version'],
  ] as const) {
    await promisify(execFile)(program, [argument]).catch((cause: unknown) => {
      throw new Error(`${program} is not there`, { cause });
    });
  }
});

describeWith('the commands of the developer page send what is parsed', programs, () => {
  let weir: TestWeir;
  let dir: string;

  beforeAll(async () => {
    weir = await TestWeir.start();
    dir = await mkdtemp(join(tmpdir(), 'weir-examples-'));
  });

  afterAll(async () => {
    await weir?.stop();
    if (dir) await rm(dir, { recursive: true, force: true });
  });

  const kinds: [DeliveryWay, DocumentFormat][] = [
    ['push', 'csv'],
    ['document', 'csv'],
    ['document', 'tsv'],
    ['document', 'json'],
    ['document', 'ndjson'],
    ['webhook', 'csv'],
  ];
  const cases = kinds.flatMap(([way, format]) => tools.map((tool) => [way, format, tool] as const));

  test.concurrent.each(cases)('%s, %s, by %s', async (delivery, format, tool) => {
    const { sourceId, artifact_id } = await send(delivery, format, tool);
    await expect
      .poll(async () => (await weir.catalog.deliveries.byArtifact(artifact_id))?.status, {
        timeout: 10_000,
      })
      .toBe('parsed');
    const stored = await weir.catalog.deliveries.byArtifact(artifact_id);
    expect(stored).toMatchObject({ sourceId, undeclaredFields: [] });
    expect(stored!.counts).toMatchObject({ records: 1, parsed: 1, rejected: 0, samples: 1 });
  });

  test.concurrent.each(tools)('a file that is packed comes as it is, by %s', async (tool) => {
    const bytes = Buffer.from([0, 255, 10, 13, 10, 64]);
    await writeFile(join(dir, 'example.xlsx'), bytes);
    const { artifact_id } = await send('document', 'xlsx', tool);
    const stored = await weir.catalog.deliveries.byArtifact(artifact_id);
    expect(stored!.sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  });

  test.each([
    ['csv', '\n'],
    ['csv', '\r'],
    ['tsv', '\n'],
  ] as const)('a name of a field in %s runs no command, after %j', async (format, line) => {
    const ran = join(dir, crypto.randomUUID());
    const name = ['%d \u0003\u009b', 'END_OF_DELIVERY', `touch '${ran}'`, '#\\'].join(line);
    const day: Field = { name: 'day', role: 'period' };
    const named = [day, { ...fields[1]!, name }, ...fields.slice(2)];
    const { artifact_id } = await send('document', format, 'curl', named);
    const { undeclaredFields } = (await weir.catalog.deliveries.byArtifact(artifact_id))!;
    expect([undeclaredFields, existsSync(ran)]).toEqual([[], false]);
    await expect
      .poll(async () => (await weir.catalog.deliveries.byArtifact(artifact_id))?.counts?.samples, {
        timeout: 10_000,
      })
      .toBe(1);
  });

  async function send(
    delivery: DeliveryWay,
    format: DocumentFormat,
    tool: Tool,
    declared = fields,
  ) {
    const source = await weir.source({ delivery, format, fields: declared });
    const { apiUrl, sourceId } = { apiUrl: weir.url, sourceId: source.sourceId };
    const what = { apiUrl, sourceId, delivery, format, version: 1, fields: declared };
    const of = { ...what, metrics: [visits] };
    const examples = sendingExamples({ ...of, today: new Date() });
    const { text } = examples.find(({ name }) => name === tool)!;
    const sender = await source.withKey();
    const env = { ...process.env, WEIR_KEY: sender.key, WEIR_SECRET: source.secret };
    const printed = await run(tool, text, env);
    const { artifact_id, status } = JSON.parse(printed.slice(printed.indexOf('{')));
    expect(status).toBe('queued');
    return { sourceId, artifact_id };
  }

  async function run(tool: Tool, text: string, env: NodeJS.ProcessEnv) {
    const [command, ending] = {
      curl: ['bash', 'sh'],
      Node: ['node', 'mjs'],
      Python: ['python3', 'py'],
    }[tool] as [string, string];
    const file = join(dir, `${crypto.randomUUID()}.${ending}`);
    await writeFile(file, text);
    return await new Promise<string>((resolve, reject) => {
      execFile(command, [file], { env, cwd: dir, timeout: 20_000 }, (error, stdout, stderr) => {
        if (error) reject(new Error(`${text}\n${stderr}`, { cause: error }));
        else resolve(stdout);
      });
    });
  }
});

describe('an example record', () => {
  const of = (more: Partial<ExampleOf>): ExampleOf => ({
    ...{
      apiUrl: 'http://localhost:8080',
      sourceId: '',
      delivery: 'push',
      format: 'csv',
      version: 1,
    },
    ...{ fields: [], metrics: [visits], today: new Date('2027-01-01T12:00:00Z') },
    ...more,
  });

  test.each([
    ['day', '2027-01-01'],
    ['week', '2026-W53'],
    ['month', '2027-01'],
    ['quarter', '2027-Q1'],
    ['year', '2027'],
  ] as const)('has a period of the grain %s: %s', (grain, text) => {
    expect(exampleRecord(of({ fields: [{ name: 'at', role: 'period', grain }] }))).toEqual([
      ['at', text],
    ]);
  });

  test('names a metric whose labels the shape has, in long form', () => {
    const long: Field[] = [
      { name: 'metric', role: 'metric' },
      { name: 'place', role: 'label' },
    ];
    const metrics = [visits, { ...visits, key: 'cost', labels: ['place'] }];
    expect(exampleRecord(of({ fields: long, metrics }))).toContainEqual(['metric', 'cost']);
  });
});
