import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import { accepted } from '../support/sender.ts';
import { type TestSource, TestWeir } from '../support/test-weir.ts';
import { weirCommand } from '../support/weir-command.ts';

/** `weir reparse` and the withdrawal of `weir source save`, as the operator uses them. */
let weir: TestWeir;
beforeAll(async () => {
  weir = await TestWeir.start();
});
afterAll(() => weir?.stop());

interface State {
  readonly status: string;
  readonly shape_version: number;
  readonly counts: Readonly<Record<string, number>>;
  readonly refusal?: string;
}

interface Reparsed {
  readonly artifact_id: string;
  readonly before: State;
  readonly after: State;
}

async function run<T>(...args: string[]): Promise<T> {
  const ran = await weirCommand(weir.running.env(), ...args, '--json');
  expect(ran).toMatchObject({ code: 0, stderr: '' });
  return JSON.parse(ran.stdout) as T;
}

const wide = (more: readonly Field[] = []): Field[] => [
  { name: 'day', role: 'period' },
  { name: 'amount', role: 'value', metric: 'amount' },
  ...more,
];

/** With the cost in it as well. */
const withCost = wide([{ name: 'cost', role: 'value', metric: 'cost', required: false }]);

const documents = (fields: readonly Field[] = wide()) =>
  weir.source({ delivery: 'document', fields });

/** @returns the artifact id, once its samples are readable */
async function send(source: TestSource, csv: string): Promise<string> {
  const answer = await source.sender.document(csv);
  await source.sender.settled(answer);
  return accepted(answer).artifact_id;
}

async function shown(source: TestSource): Promise<string[]> {
  const { samples } = await source.sender.samples('from=2026-01-01&to=2027-01-01');
  return samples.map((one) => `${one.period_start} ${one.metric} ${one.value}`);
}

describe('weir reparse', () => {
  test("B is parsed again without the sample: A's value is back; then A anew, then C", async () => {
    const source = await documents(withCost);
    const first = await send(source, 'day,amount,cost\n2026-03-01,1,10\n');
    const second = await send(source, 'day,amount,cost\n2026-03-01,2,20\n');
    await source.save({ fields: wide() });
    const answer = await run<Reparsed>('reparse', second, '--shape-version', '2');
    expect(answer).toMatchObject({
      artifact_id: second,
      before: { status: 'parsed', shape_version: 1, counts: { records: 1, samples: 2 } },
      after: { status: 'parsed', shape_version: 2, counts: { records: 1, samples: 1 } },
    });
    expect(await shown(source)).toEqual(['2026-03-01 amount 2', '2026-03-01 cost 10']);
    // A under a shape that reads the cost as the amount: its place is before B.
    const swapped = wide().map((field) =>
      field.role === 'value' ? { ...field, name: 'cost' } : field,
    );
    await source.save({ fields: swapped });
    await run('reparse', first, '--shape-version', '3');
    expect(await shown(source)).toEqual(['2026-03-01 amount 2']);
    await run('reparse', second, '--shape-version', '3');
    expect(await shown(source)).toEqual(['2026-03-01 amount 20']);
    await run('reparse', first);
    expect(await shown(source)).toEqual(['2026-03-01 amount 20']);
    await source.save({ fields: withCost });
    await source.sender.settled(await source.sender.document('day,amount,cost\n2026-03-01,3,30\n'));
    expect(await shown(source)).toEqual(['2026-03-01 amount 3', '2026-03-01 cost 30']);
  });

  test('a dry run says how many records change, fail, appear, and writes nothing', async () => {
    const source = await documents(withCost);
    const csv = 'day,amount,cost\n2026-03-01,1,10\n2026-03-02,2,\n2026-03-03,,3\n2026-03-04,x,4\n';
    const artifact = await send(source, `${csv}2026-03-05,5,y\n`);
    expect(await shown(source)).toEqual([
      ...['2026-03-03 cost 3', '2026-03-02 amount 2', '2026-03-01 amount 1', '2026-03-01 cost 10'],
    ]);
    // The amount is read from the cost: records 1 and 3 change, 2 gives nothing, 4 appears.
    await source.save({
      fields: [...wide().slice(0, 1), { name: 'cost', role: 'value', metric: 'amount' }],
    });
    const before = await weir.catalog.deliveries.byArtifact(artifact);
    const dry = await run<object>('reparse', artifact, '--shape-version', '2', '--dry-run');
    expect(dry).toEqual({
      artifact_id: artifact,
      dry_run: true,
      shape_version: 2,
      refusal: null,
      records: { changed: 2, failing: 0, appearing: 1 },
      samples: { vanishing: 3 },
      before: {
        ...{ deliveries_parsed: 1, deliveries_rejected: 0 },
        counts: { records: 5, parsed: 3, rejected: 2, samples: 4, blank: 2, superseded_within: 0 },
      },
      after: {
        ...{ deliveries_parsed: 1, deliveries_rejected: 0 },
        counts: { records: 5, parsed: 4, rejected: 1, samples: 3, blank: 1, superseded_within: 0 },
      },
    });
    expect(await weir.catalog.deliveries.byArtifact(artifact)).toEqual(before);
    expect(await shown(source)).toHaveLength(4);
    const after = await run<Reparsed>('reparse', artifact, '--shape-version', '2');
    expect(after.after.counts).toMatchObject({ parsed: 4, samples: 3 });
    const back = await run<{ records: object }>(
      'reparse',
      artifact,
      '--shape-version',
      '1',
      '--dry-run',
    );
    expect(back.records).toEqual({ changed: 2, failing: 1, appearing: 1 });
  });

  test('all rejected ones of a source are parsed again after the shape was corrected', async () => {
    const source = await documents();
    const good = await send(source, 'day,amount\n2026-03-01,1\n');
    const bad = [
      await send(source, 'date,amount\n2026-03-01,2\n'),
      await send(source, 'date,amount\n2026-03-02,3\n2026-03-03,x\n'),
    ];
    const hopeless = await send(source, 'neither\n2026-03-02\n');
    expect(await shown(source)).toEqual(['2026-03-01 amount 1']);
    await source.save({
      fields: [{ name: 'date', role: 'period' }, ...wide().slice(1)],
    });
    const dry = await run<object>('reparse', '--rejected', source.sourceId, '--dry-run');
    expect(dry).toMatchObject({ deliveries: 3, records: { changed: 0, failing: 1, appearing: 2 } });
    const answer = await run('reparse', '--rejected', source.sourceId);
    expect(answer).toMatchObject({
      ...{ source_id: source.sourceId, shape_version: 2, deliveries: 3 },
      before: { deliveries_parsed: 0, deliveries_rejected: 3, counts: { samples: 0 } },
      after: {
        ...{ deliveries_parsed: 2, deliveries_rejected: 1 },
        counts: { records: 3, parsed: 2, rejected: 1, samples: 2 },
      },
    });
    expect(await shown(source)).toEqual(['2026-03-02 amount 3', '2026-03-01 amount 2']);
    const states = await Promise.all(
      [good, ...bad, hopeless].map((one) => weir.catalog.deliveries.byArtifact(one)),
    );
    expect(states.map((one) => [one!.status, one!.shapeVersion])).toEqual([
      ...[
        ['parsed', 1],
        ['parsed', 2],
        ['parsed', 2],
        ['rejected', 2],
      ],
    ]);
    const view = await source.sender.get(`/v1/deliveries/${bad[1]}`);
    expect(JSON.parse(view.text)).toMatchObject({
      rejections: [{ record: 2, field: 'amount', code: 'value_not_decimal' }],
    });
    const none = await run('reparse', '--rejected', (await documents()).sourceId);
    expect(none).toMatchObject({ deliveries: 0 });
  });

  test('those of a source that a filter leaves are parsed again', async () => {
    const source = await documents();
    const texts = ['day,amount\n2026-03-01,1\n', 'day,amount\n2026-03-02,2\n', 'neither\n'];
    const sent: string[] = [];
    for (const text of texts) sent.push(await send(source, text));
    const received = await weir.catalog.deliveries.byArtifact(sent[1]!);
    const from = new Date(received!.receivedAt).toISOString();
    const count = async (...args: string[]) => {
      const told = await run<{ deliveries?: number; artifact_id?: string }>(
        ...['reparse', '--source', source.sourceId, ...args, '--dry-run'],
      );
      return told.deliveries ?? [told.artifact_id];
    };
    expect(await count()).toBe(3);
    expect(await count('--received-from', from)).toBe(2);
    expect(await count('--received-before', from)).toEqual([sent[0]]);
    expect(await count('--status', 'rejected')).toEqual([sent[2]]);
    expect(await count('--status', 'parsed', '--received-from', from)).toEqual([sent[1]]);
    expect(await count('--of-version', '2')).toBe(0);
    expect(await count('--received-before', '2026-01-01')).toBe(0);
    await source.save({ fields: [...wide(), { name: 'note', required: false }] });
    const args = ['--source', source.sourceId, '--status', 'parsed', '--received-from', from];
    const answer = await run('reparse', ...args);
    expect(answer).toMatchObject({ shape_version: 2, deliveries: 1 });
    const versions = await Promise.all(
      sent.map(async (one) => (await weir.catalog.deliveries.byArtifact(one))!.shapeVersion),
    );
    expect(versions).toEqual([1, 2, 1]);
    expect(await count('--of-version', '2')).toEqual([sent[1]]);
  });

  test('what is not there, or makes no sense, is refused', async () => {
    const source = await documents();
    const artifact = await send(source, 'day,amount\n2026-03-01,1\n');
    const env = weir.running.env();
    const refused = async (code: number, ...args: string[]) => {
      const ran = await weirCommand(env, 'reparse', ...args, '--json');
      expect({ ...ran, args }).toMatchObject({ code, stdout: '' });
      expect(ran.stderr).toMatch(/^weir: .+\n|^error: /);
    };
    await refused(1, '0199aaaa-0000-7000-8000-000000000001');
    await refused(1, artifact, '--shape-version', '9');
    await refused(1, '--rejected', '0199aaaa-0000-7000-8000-000000000001');
    await refused(2);
    await refused(2, artifact, '--rejected', source.sourceId);
    await refused(2, artifact, '--shape-version', '0');
    await refused(2, artifact, '--status', 'parsed');
    await refused(2, '--source', source.sourceId, '--status', 'queued');
    await refused(2, '--source', source.sourceId, '--received-from', 'yesterday');
    await refused(2, '--source', source.sourceId, '--rejected', source.sourceId);
    expect(await shown(source)).toEqual(['2026-03-01 amount 1']);
  });

  test('keeps the receipt: the same key answers with the version that it named', async () => {
    const source = await documents();
    const key = `receipt-${source.sourceId}`;
    const first = await source.sender.document('day,amount\n2026-03-01,1\n', key);
    await source.sender.settled(first);
    await source.save({ fields: withCost });
    await run('reparse', accepted(first).artifact_id, '--shape-version', '2');
    const again = await source.sender.document('day,amount\n2026-03-01,1\n', key);
    expect([again.status, again.text]).toEqual([202, first.text]);
  });
});

describe('a field that becomes personal', () => {
  const labelled = wide([
    { name: 'customer', role: 'label', label: 'place' },
    { name: 'kind', role: 'label', label: 'device' },
    { name: 'visits', role: 'value', metric: 'visits' },
  ]);
  const shape = (fields: readonly Field[]) => JSON.stringify({ fields });

  test('withdraws its samples at once; what they had superseded returns', async () => {
    const { mkdtempSync, rmSync, writeFileSync } = await import('node:fs');
    const folder = mkdtempSync('/tmp/weir-shape-');
    const source = await documents();
    const plain = await send(source, 'day,amount\n2026-03-01,1\n');
    await source.save({ fields: labelled });
    const named = await send(
      source,
      'day,amount,customer,kind,visits\n2026-03-01,2,jane,a,7\n2026-03-02,3,joe,a,8\n',
    );
    expect(await shown(source)).toHaveLength(4);
    const file = `${folder}/shape.json`;
    writeFileSync(file, shape([...wide(), { name: 'customer', personal: true }]));
    const saved = await run('source', 'save', source.sourceId, '--shape', file);
    expect(saved).toMatchObject({ shape_version: 3, withdrawn: 1 });
    expect(await shown(source)).toEqual(['2026-03-01 amount 1']);
    const view = JSON.parse((await source.sender.get(`/v1/deliveries/${named}`)).text);
    expect(view).toMatchObject({
      status: 'rejected',
      shape_version: 2,
      counts: { records: 0, samples: 0 },
      rejections: [{ record: null, field: 'customer', code: 'personal_field' }],
    });
    // Under the old version it is refused again; under the current one it comes back without.
    const old = await run<Reparsed>('reparse', named, '--shape-version', '2');
    expect(old.after).toMatchObject({ status: 'rejected', refusal: 'personal_field' });
    const back = await run<Reparsed>('reparse', named);
    expect(back.after).toMatchObject({ status: 'parsed', shape_version: 3 });
    expect(await shown(source)).toEqual(['2026-03-02 amount 3', '2026-03-01 amount 2']);
    expect(await weir.catalog.deliveries.byArtifact(plain)).toMatchObject({ status: 'parsed' });
    // What still comes under the old version is rejected.
    const late = await source.sender.document(
      'day,amount,customer,kind,visits\n2026-03-03,9,canary-jim,a,7\n',
      `late-${named}`,
      { 'X-Service-Shape-Version': '2' },
    );
    expect(await source.sender.settled(late)).toMatchObject({
      status: 'rejected',
      rejections: [{ field: 'customer', code: 'personal_field' }],
    });
    // Saving again withdraws nothing more.
    expect(await run('source', 'save', source.sourceId)).not.toHaveProperty('withdrawn');
    rmSync(folder, { recursive: true });
  });
});
