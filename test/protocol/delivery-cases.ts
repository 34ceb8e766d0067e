import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { jsonOf } from '../support/ask.ts';
import { accepted, freshKey } from '../support/sender.ts';
import type { TheWeir } from './suite.ts';

const csv = 'day,amount,extra,other\n2026-03-01,1,x,y\n';

/** GET /v1/deliveries/{artifact_id} (DECISIONS 4). */
export function deliveryCases(weir: TheWeir): void {
  test('a delivery is shown with exactly the fields of its contract', async () => {
    const { sender, sourceId } = await weir().source({ delivery: 'document' });
    const before = Date.now();
    const receipt = await sender.document(csv);
    const after = Date.now();
    const view = await sender.settled(receipt);
    expect(view).toEqual({
      artifact_id: accepted(receipt).artifact_id,
      source_id: sourceId,
      status: 'parsed',
      sandbox: false,
      shape_version: 1,
      received_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      bytes: csv.length,
      sha256: createHash('sha256').update(csv).digest('hex'),
      counts: { records: 1, parsed: 1, rejected: 0, samples: 1, blank: 0, superseded_within: 0 },
      rejections: [],
      undeclared_fields: ['extra', 'other'],
    });
    expect(Date.parse(view.received_at)).toBeGreaterThanOrEqual(before);
    expect(Date.parse(view.received_at)).toBeLessThanOrEqual(after);
  });

  test('the artifact id is taken in any case of its letters', async () => {
    const { sender } = await weir().source();
    const receipt = await sender.push({ day: '2026-03-01', amount: '1' });
    const { artifact_id } = accepted(receipt);
    const answer = await sender.get(`/v1/deliveries/${artifact_id.toUpperCase()}`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(jsonOf<{ artifact_id: string }>(answer).artifact_id).toBe(artifact_id);
  });

  test("another source's key, an unknown id and a text that is none get one 404", async () => {
    const source = await weir().source();
    const other = await weir().source();
    const receipt = await source.sender.push({ day: '2026-03-01', amount: '1' });
    const { artifact_id } = accepted(receipt);
    const ids = [artifact_id, '01a1fb42-67ec-725a-ba18-bed032c51381', 'x', '%00', "'--"];
    for (const id of ids) {
      const answer = await other.sender.get(`/v1/deliveries/${id}`);
      expect(answer.status).toBe(404);
      const message = 'The source has no such delivery.';
      expect(jsonOf(answer)).toEqual({ code: 'not_found', message });
    }
  });

  test('a delivery whose every record is bad is rejected, with its reasons', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const view = await sender.settled(await sender.document('amount,day\n1,2026-03-01x\nn/a,\n'));
    expect(view.status).toBe('rejected');
    expect(view.counts).toEqual({
      ...{ records: 2, parsed: 0, rejected: 2 },
      ...{ samples: 0, blank: 0, superseded_within: 0 },
    });
    expect(view.rejections).toEqual([
      {
        ...{ record: 1, line: 2, field: 'day', code: 'period_invalid' },
        message: expect.stringMatching(/\.$/),
      },
      {
        ...{ record: 2, line: 3, field: 'day', code: 'period_blank' },
        message: expect.stringMatching(/\.$/),
      },
      {
        ...{ record: 2, line: 3, field: 'amount', code: 'value_not_decimal' },
        message: expect.stringMatching(/\.$/),
      },
    ]);
  });

  test('a push that cannot be parsed is stored, answered and rejected with its field', async () => {
    const { sender } = await weir().source();
    const view = await sender.settled(await sender.push({ day: '2026-02-30', amount: '1,5' }));
    expect(view.status).toBe('rejected');
    expect(
      view.rejections.map(({ record, line, field, code }) => [record, line, field, code]),
    ).toEqual([
      [1, null, 'day', 'period_invalid'],
      [1, null, 'amount', 'value_not_decimal'],
    ]);
  });

  test('a lone surrogate in a payload is stored and rejects the delivery', async () => {
    const { sender } = await weir().source();
    const body =
      `{"idempotency_key":"${freshKey()}","shape_version":1,` +
      '"payload":{"day":"2026-03-01","amount":"1","note":"\\ud800"}}';
    const view = await sender.settled(await sender.pushText(body));
    expect(view.status).toBe('rejected');
    expect(view.rejections).toMatchObject([{ record: null, code: 'lone_surrogate' }]);
  });

  test('the first 100 of many rejections are shown, all are counted', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const rows = Array.from({ length: 250 }, (_, i) => `2026-03-01,bad${i}\n`);
    const receipt = await sender.document(`day,amount\n${rows.join('')}2026-03-01,1\n`);
    const view = await sender.settled(receipt);
    expect(view.status).toBe('parsed');
    expect(view.counts).toMatchObject({ records: 251, parsed: 1, rejected: 250 });
    expect(view.rejections.map(({ record }) => record)).toEqual(
      Array.from({ length: 100 }, (_, i) => i + 1),
    );
    expect(JSON.stringify(view.rejections)).not.toContain('bad');
  });

  test('a header without rows is parsed with no record', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const view = await sender.settled(await sender.document('day,amount\n'));
    expect(view.status).toBe('parsed');
    expect(Object.values(view.counts)).toEqual([0, 0, 0, 0, 0, 0]);
  });

  test('a refused header tells no undeclared fields', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const view = await sender.settled(await sender.document('day,secret\n2026-03-01,1\n'));
    expect(view.status).toBe('rejected');
    expect(view.rejections).toMatchObject([
      { record: null, line: 1, field: 'amount', code: 'header_field_missing' },
    ]);
    expect(view.undeclared_fields).toEqual([]);
  });

  test('a personal field never reaches a sample', async () => {
    const { sender } = await weir().source({
      delivery: 'document',
      fields: [
        { name: 'day', role: 'period' },
        { name: 'email', personal: true },
        { name: 'amount', role: 'value', metric: 'amount' },
      ],
    });
    const body = 'day,email,amount\n2026-03-01,jo@example.org,1\n2026-03-02,jo@example.org,x\n';
    const receipt = await sender.document(body);
    const view = await sender.settled(receipt);
    const answer = await sender.get('/v1/samples?from=2026-03-01&to=2026-04-01');
    expect(view.counts.samples).toBe(1);
    expect(answer.text + JSON.stringify(view)).not.toContain('example.org');
  });
}
