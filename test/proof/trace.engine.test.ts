import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { makeProofPlace, type ProofPlace } from './support.ts';

let place: ProofPlace;
beforeAll(async () => {
  place = await makeProofPlace();
});
afterAll(() => place.stop());

interface Traced {
  readonly sample: {
    readonly value: string;
    readonly labels: object;
    readonly artifact_id: string;
  };
  readonly delivery: Readonly<Record<string, unknown>>;
  readonly record: number;
  readonly line: number | null;
  readonly byte_range: { readonly from: number; readonly to: number } | null;
  readonly fields: Readonly<Record<string, string | null>>;
  readonly superseded: readonly { readonly artifact_id: string; readonly value: string }[];
}

async function traced(...args: readonly string[]): Promise<Traced> {
  const { code, stdout, stderr } = await place.run('trace', ...args, '--json');
  if (code !== 0) throw new Error(`${code}: ${stderr}`);
  return JSON.parse(stdout) as Traced;
}

const amountOf = (period: string) => [
  ...['--source', place.push.sourceId, '--metric', 'amount', '--period', period],
];

describe('weir trace', { timeout: 60_000 }, () => {
  test('leads a value to delivery, record and bytes, and names what it corrected', async () => {
    const { first, correction } = place.artifacts;
    const found = await traced(...amountOf('2026-01-01'));
    expect(found.sample).toMatchObject({ value: '11.00', labels: {}, artifact_id: correction });
    const stored = await place.weir.catalog.deliveries.byArtifact(correction);
    expect(found.delivery).toMatchObject({
      artifact_id: correction,
      sha256: stored!.sha256,
      received_at: new Date(stored!.receivedAt).toISOString(),
      ...{ shape_version: 1, generation: 0, parser_version: 1, status: 'parsed' },
    });
    expect(found).toMatchObject({ record: 1, fields: { day: '2026-01-01', amount: '11.00' } });
    expect(found.superseded).toMatchObject([{ artifact_id: first, value: '10.50' }]);
  });

  test('cites the very bytes of a row of a document', async () => {
    const { document } = place;
    const args = ['--source', document.sourceId, '--metric', 'visits', '--period', '2025-03-01'];
    const found = await traced(...args, '--label', 'place=B, 2');
    const { artifact_id: artifactId } = found.sample;
    const bytes = await place.run('delivery', 'download', artifactId);
    const { from, to } = found.byte_range!;
    const row = bytes.stdout.slice(from, to);
    expect(row).toBe(bytes.stdout.split('\n')[found.line! - 1]);
    expect(row).toMatch(/^2025-03-01,"B, 2",phone,\d+,\d+\.50$/);
    expect(row.split(',').slice(-2)).toEqual([found.fields.visits, found.fields.amount]);
    expect(found.sample.labels).toEqual({ device: 'phone', place: 'B, 2' });
  });

  test('names no value of a generation that a parse again took back', async () => {
    const { document, artifacts } = place;
    const args = ['--source', document.sourceId, '--metric', 'amount', '--period', '2025-01-02'];
    const found = await traced(...args);
    expect(found.sample.artifact_id).not.toBe(artifacts.reparsed);
    expect(found.superseded.map((one) => one.artifact_id)).not.toContain(artifacts.reparsed);
    expect(found.superseded.length).toBeGreaterThan(0);
  });

  test('masks personal fields and those that the shape does not know', async () => {
    const { document } = place;
    const fields = [
      { name: 'day', role: 'period' },
      { name: 'amount', role: 'value', metric: 'amount' },
      { name: 'who', personal: true, required: false },
    ] as const;
    await document.save({ fields });
    const { sender } = document;
    const body = 'day,amount,who,extra\n2026-06-01,5,Ada,canary\n';
    const sent = sender.document(body, 'masked', { 'X-Service-Shape-Version': '3' });
    expect((await sender.settled(await sent)).status).toBe('parsed');
    const args = ['--source', document.sourceId, '--metric', 'amount', '--period', '2026-06-01'];
    const { code, stdout } = await place.run('trace', ...args, '--json');
    expect(code).toBe(0);
    expect(stdout).not.toMatch(/Ada|canary/);
    const { fields: shown } = JSON.parse(stdout) as Traced;
    expect(shown).toEqual({ day: '2026-06-01', amount: '5', who: null, extra: null });
  });

  test('says in one line what is not there, is no period, or is not one sample', async () => {
    const refused = async (...args: readonly string[]) => {
      const { code, stderr } = await place.run('trace', ...args, '--json');
      return { code, stderr: stderr.trim() };
    };
    expect(await refused(...amountOf('2020-01-01'))).toEqual({
      code: 1,
      stderr: 'weir: There is no such sample.',
    });
    expect((await refused(...amountOf('soon'))).code).toBe(1);
    const sandbox = await traced(...amountOf('2026-01-01'), '--sandbox');
    expect(sandbox.sample.value).toBe('99');
    const visits = ['--source', place.document.sourceId, '--metric', 'visits'];
    const many = await refused(...visits, '--period', '2025-01-01', '--label', 'device=phone');
    expect(many.code).toBe(1);
    expect(many.stderr).toMatch(/^weir: (Several samples have that|There is no such sample)/);
    expect((await refused(...amountOf('2026-01-01'), '--label', 'x')).code).toBe(2);
  });
});
