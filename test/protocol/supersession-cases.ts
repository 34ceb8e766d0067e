import { expect, test } from 'vitest';
import { accepted, freshKey } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

/** The later accepted delivery wins (specification, GET /v1/samples, 2; DECISIONS 3). */
export function supersessionCases(weir: TheWeir): void {
  test('a later delivery replaces what it repeats and leaves the rest', async () => {
    const source = await weir().source({ delivery: 'document' });
    const first = await send(source, 'day,amount\n2026-03-01,1\n2026-03-02,2\n');
    const second = await send(source, 'day,amount\n2026-03-02,20\n2026-03-03,30\n');
    expect(await read(source)).toEqual([
      ['2026-03-03', '30', second],
      ['2026-03-02', '20', second],
      ['2026-03-01', '1', first],
    ]);
  });

  test('the accepted order decides, whichever is parsed first', async () => {
    const source = await weir().source({ delivery: 'document' });
    // The large one is accepted first and takes longer to parse.
    const filler = Array.from({ length: 60_000 }, (_, i) => `2026-03-01,${i}`).join('\n');
    const large = await source.sender.document(`day,amount\n${filler}\n2026-03-01,1\n`);
    const small = await source.sender.document('day,amount\n2026-03-01,2\n');
    await Promise.all([source.sender.settled(small), source.sender.settled(large)]);
    expect(await read(source)).toEqual([['2026-03-01', '2', accepted(small).artifact_id]]);
  });

  test('a superseded sample is absent from the moment its successor is readable', async () => {
    const source = await weir().source({ delivery: 'document' });
    for (let i = 0; i < 6; i++) {
      await send(source, `day,amount\n2026-03-01,${i}\n`);
      expect((await read(source)).map(([, value]) => value)).toEqual([String(i)]);
    }
  });

  test('within a delivery the later record wins, and the other is counted', async () => {
    const source = await weir().source({ delivery: 'document' });
    const answer = await source.sender.document(
      'day,amount\n2026-03-01,1\n2026-03-01,2\n2026-03-01,\n2026-03-01,3\n',
    );
    const { counts } = await source.sender.settled(answer);
    expect(counts).toMatchObject({ records: 4, samples: 1, blank: 1, superseded_within: 2 });
    expect((await read(source)).map(([, value]) => value)).toEqual(['3']);
  });

  test('samples of other labels, metrics or sources stand beside', async () => {
    const fields = [
      { name: 'day', role: 'period' },
      { name: 'place', role: 'label' },
      { name: 'kind', role: 'label', label: 'device' },
      { name: 'visits', role: 'value', metric: 'visits' },
      { name: 'amount', role: 'value', metric: 'amount' },
    ] as const;
    const source = await weir().source({ delivery: 'document', fields });
    const other = await weir().source({ delivery: 'document', fields });
    const csv = (sign: string) =>
      `day,place,kind,visits,amount\n2026-03-01,a,b,${sign}1,\n2026-03-01,b,a,${sign}2,\n` +
      `2026-03-01,ab,,${sign}3,${sign}9\n`;
    await send(source, csv(''));
    await send(other, csv('-'));
    await send(source, csv('0'));
    const { samples } = await source.sender.samples('from=2026-03-01&to=2026-03-02');
    expect(samples.map(({ metric, labels, value }) => [metric, labels, value])).toEqual([
      ['amount', {}, '09'],
      ['visits', { device: '', place: 'ab' }, '03'],
      ['visits', { device: 'a', place: 'b' }, '02'],
      ['visits', { device: 'b', place: 'a' }, '01'],
    ]);
    expect((await read(other)).map(([, value]) => value)).toEqual(['-9', '-3', '-2', '-1']);
  });

  test('sandbox never supersedes production, nor the reverse', async () => {
    const source = await weir().source({ delivery: 'document' });
    const sandbox = await source.withKey({ sandbox: true });
    await send(source, 'day,amount\n2026-03-01,1\n');
    await sandbox.settled(await sandbox.document('day,amount\n2026-03-01,2\n'));
    await send(source, 'day,amount\n2026-03-01,3\n');
    await sandbox.settled(await sandbox.document('day,amount\n2026-03-01,4\n'));
    const { samples } = await source.sender.samples('from=2026-03-01&to=2026-03-02');
    expect(samples.map((sample) => [sample.sandbox, sample.value])).toEqual([
      [false, '3'],
      [true, '4'],
    ]);
  });

  test('old bytes sent again do not bring old values back', async () => {
    const source = await weir().source({ delivery: 'document' });
    await send(source, 'day,amount\n2026-03-01,1\n');
    await send(source, 'day,amount\n2026-03-01,2\n');
    await source.sender.settled(
      await source.sender.document('day,amount\n2026-03-01,1\n', freshKey()),
    );
    expect((await read(source)).map(([, value]) => value)).toEqual(['2']);
  });
}

/** @returns the artifact id, once its samples are readable */
async function send(source: TestSource, csv: string): Promise<string> {
  const answer = await source.sender.document(csv);
  expect((await source.sender.settled(answer)).status).toBe('parsed');
  return accepted(answer).artifact_id;
}

async function read(source: TestSource): Promise<[string, string, string][]> {
  const { samples } = await source.sender.samples('from=2026-01-01&to=2027-01-01');
  return samples.map(({ period_start, value, artifact_id }) => [period_start, value, artifact_id]);
}
