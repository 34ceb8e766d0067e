import { createHash, randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type {
  listDeliveries,
  listRejections,
  readDelivery,
  readRecordTexts,
  tryReparse,
} from '../../src/domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../src/domain/api/app/endpoint.ts';
import type { Field } from '../../src/domain/nouns.ts';
import { accepted } from '../support/sender.ts';
import { type SignedInUser, signedIn } from '../support/signed-in.ts';
import { dayAndAmount, type TestSource, TestWeir } from '../support/test-weir.ts';

type List = AnswerOf<typeof listDeliveries>;
type One = AnswerOf<typeof readDelivery>;

const withCustomer: readonly Field[] = [
  ...dayAndAmount,
  { name: 'shop' },
  { name: 'customer', personal: true },
];
const csv = `day,amount,shop,customer,extra
2026-01-01,1.50,Köln,Ada Lovelace,secret
2026-01-02,1 000,"=cmd, ""x""",Grace Hopper,secret
not a day,2,Bonn,,secret
2026-01-04,3
`;

let weir: TestWeir;
let source: TestSource;
let pushes: TestSource;
let user: SignedInUser;
let reader: SignedInUser;
beforeAll(async () => {
  weir = await TestWeir.start();
  source = await weir.source({ delivery: 'document', fields: withCustomer });
  pushes = await weir.source();
  user = await signedIn(weir, { of: source.sourceId });
  reader = await signedIn(weir, { of: source.sourceId, permissions: ['sources.read'] });
});
afterAll(() => weir.stop());

async function get<T>(path: string, by = user): Promise<T> {
  const answer = await by(path);
  expect([path, answer.status]).toEqual([path, 200]);
  return (await answer.json()) as T;
}

const list = (of: TestSource, query = '') =>
  get<List>(`/app/api/sources/${of.sourceId}/deliveries?${query}`);
const show = (id: string) => get<One>(`/app/api/deliveries/${id}`);

/** A document of which one record is good and three are rejected. */
async function mixed(key: string): Promise<string> {
  const { artifact_id } = await source.sender.settled(await source.sender.document(csv, key));
  return artifact_id;
}

async function untilSettled(id: string, generation: number): Promise<One> {
  for (const end = Date.now() + 20_000; ; ) {
    const found = await show(id);
    if (found.generation === generation && found.settled_at !== null) return found;
    if (Date.now() > end) throw new Error(`${id} is not settled`);
    await sleep(25);
  }
}

describe('the list', () => {
  const ids: string[] = [];
  beforeAll(async () => {
    const sandbox = await pushes.withKey({ sandbox: true });
    for (const [sender, day, key] of [
      [pushes.sender, '2026-02-01', 'list-a'],
      [sandbox, '2026-02-02', 'list-b'],
      [pushes.sender, 'no day', 'list-c'],
    ] as const) {
      const receipt = await sender.push({ day, amount: '1' }, key);
      ids.unshift((await pushes.sender.settled(receipt)).artifact_id);
    }
    await pushes.sender.push({ day: '2026-02-03', amount: '2' }, 'list-a');
  });

  test('has what came in, received last first, with counts and how it was named', async () => {
    const { deliveries, counts, next, keys_cut } = await list(pushes);
    expect(deliveries.map((one) => one.artifact_id)).toEqual(ids);
    expect([counts, next, keys_cut]).toEqual([
      { queued: 0, parsing: 0, parsed: 2, rejected: 1 },
      null,
      false,
    ]);
    expect(deliveries[2]).toMatchObject({
      ...{ status: 'parsed', sandbox: false, shape_version: 1, idempotency_key: 'list-a' },
      counts: { records: 1, parsed: 1, rejected: 0, samples: 1, blank: 0, superseded_within: 0 },
      ...{ conflicts: 1, damage: null, refusal: null },
    });
    expect(Date.parse(deliveries[0]!.received_at)).toBeGreaterThan(Date.now() - 60_000);
  });

  test('is narrowed by state, time, key, sandbox and conflicts', async () => {
    const [rejected, sandbox, first] = ids;
    const found = async (query: string) =>
      (await list(pushes, query)).deliveries.map((one) => one.artifact_id);
    expect(await found('status=rejected')).toEqual([rejected]);
    expect(await found('sandbox=true')).toEqual([sandbox]);
    expect(await found('sandbox=false')).toEqual([rejected, first]);
    expect(await found('key=list-')).toEqual(ids);
    expect(await found('key=list-&whole_key=true')).toEqual([]);
    expect(await found('key=list-b&whole_key=true')).toEqual([sandbox]);
    expect(await found('conflicting=true')).toEqual([first]);
    expect(await found('rejecting=true')).toEqual([rejected]);
    expect(await found('rejecting=true&conflicting=true')).toEqual([]);
    expect(await found('rejecting=true&key=list-')).toEqual([rejected]);
    expect(await found('conflicting=true&status=rejected')).toEqual([]);
    const { received_at } = (await list(pushes)).deliveries[1]!;
    expect(await found(`received_from=${received_at}`)).toEqual([rejected, sandbox]);
    expect(await found(`received_before=${received_at}`)).toEqual([first]);
    expect((await list(pushes, 'sandbox=true')).counts).toMatchObject({ parsed: 1, rejected: 0 });
  });

  test('comes by pages, and a page that has not changed is not sent again', async () => {
    const page = await list(pushes, 'limit=2');
    expect(page.deliveries.map((one) => one.artifact_id)).toEqual(ids.slice(0, 2));
    const rest = await list(pushes, `limit=2&before=${page.next}`);
    expect(rest.deliveries.map((one) => one.artifact_id)).toEqual(ids.slice(2));
    expect(rest.next).toBeNull();
    const path = `/app/api/sources/${pushes.sourceId}/deliveries`;
    const etag = (await user(path)).headers.get('etag')!;
    expect((await user(path, { headers: { 'If-None-Match': etag } })).status).toBe(304);
  });

  test.each([
    ['status=lost', 'status'],
    ['received_from=yesterday', 'received_from'],
    ['before=1', 'before'],
    ['limit=1000', 'limit'],
    ['key=', 'key'],
    ['key=a%00', 'key'],
    ['sort=up', 'query'],
  ])('refuses ?%s', async (query, field) => {
    const answer = await user(`/app/api/sources/${pushes.sourceId}/deliveries?${query}`);
    expect([answer.status, await answer.json()]).toMatchObject([400, { field }]);
  });
});

describe('one delivery', () => {
  let id: string;
  beforeAll(async () => {
    id = await mixed('one');
    await source.sender.document('something else', 'one');
    await source.sender.document(csv, 'another-name');
  });

  test('is shown with its receipt, its names and what came under them later', async () => {
    const sha256 = createHash('sha256').update(csv).digest('hex');
    const found = await show(id);
    expect(found).toMatchObject({
      ...{ artifact_id: id, source_id: source.sourceId, status: 'parsed', sha256 },
      ...{ bytes: Buffer.byteLength(csv), delivery: 'document', encoding: 'identity' },
      ...{ shape_version: 1, receipt_shape_version: 1, generation: 0, parser_version: 1 },
      counts: { records: 4, parsed: 1, rejected: 3, samples: 1 },
      ...{ undeclared_fields: ['extra'], waits_for: null, damage: null, reparse_version: 1 },
      keys: { count: 2, first: [{ key: 'one' }, { key: 'another-name' }] },
    });
    const other = createHash('sha256').update('something else').digest('hex');
    expect(found.conflicts).toMatchObject({ count: 1, newest: [{ key: 'one', sha256: other }] });
    expect(await get<One>(`/app/api/deliveries/${id.toUpperCase()}`, reader)).toEqual(found);
  });

  test('tells of each rejected record where it is, why, and what it holds', async () => {
    const path = `/app/api/deliveries/${id}/rejections`;
    const all = await get<AnswerOf<typeof listRejections>>(path);
    expect(
      all.rejections.map(({ record, line, field, code }) => [record, line, field, code]),
    ).toEqual([
      [2, 3, 'amount', 'value_not_decimal'],
      [3, 4, 'day', 'period_invalid'],
      [4, 5, null, 'cell_count'],
    ]);
    const page = await get<typeof all>(`${path}?limit=2`);
    expect([page.rejections.length, page.next_offset]).toEqual([2, 2]);
    const rest = await get<typeof all>(`${path}?limit=2&offset=2`);
    expect([rest.rejections, rest.next_offset]).toEqual([all.rejections.slice(2), null]);

    const texts = await user(`/app/api/deliveries/${id}/records?records=2,3,4,9`);
    const text = await texts.text();
    for (const hidden of ['Grace', 'secret', 'Ada']) expect(text).not.toContain(hidden);
    const { records } = JSON.parse(text) as AnswerOf<typeof readRecordTexts>;
    const shown = (name: string, text: string | null, masked = false) => ({ name, text, masked });
    expect(records).toEqual([
      {
        ...{ record: 2, line: 3, cut: false },
        fields: [
          ...[shown('day', '2026-01-02'), shown('amount', '1 000'), shown('shop', '=cmd, "x"')],
          ...[shown('customer', null, true), shown('extra', null, true)],
        ],
      },
      {
        record: 3,
        line: 4,
        cut: false,
        fields: expect.arrayContaining([shown('day', 'not a day')]),
      },
      { record: 4, line: 5, cut: false, fields: [] },
      { record: 9, line: null, cut: false, fields: null },
    ]);
  });

  test('gives its stored bytes as a file, to who may manage sources', async () => {
    const answer = await user(`/app/api/deliveries/${id}/body`);
    expect([answer.status, await answer.text()]).toEqual([200, csv]);
    const { headers } = answer;
    expect(headers.get('content-type')).toBe('application/octet-stream');
    expect(headers.get('content-disposition')).toBe(`attachment; filename="${id}"`);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('cache-control')).toContain('no-store');
    expect((await reader(`/app/api/deliveries/${id}/body`)).status).toBe(403);
    const [noted] = await weir.catalog.audit.list({ limit: 1 });
    expect(noted).toMatchObject({ action: 'delivery download', about: { artifact_id: id } });
  });

  test('does not give out bytes that are not those of the receipt', async () => {
    const receipt = accepted(await source.sender.document('day,amount\n2026-05-01,7\n'));
    const found = (await weir.catalog.deliveries.byArtifact(receipt.artifact_id))!;
    const other = (await weir.catalog.deliveries.byArtifact(id))!;
    const { running } = weir;
    const { default: Sqlite } = await import('better-sqlite3');
    const db = new Sqlite(`${running.place.dataDir}/catalog.db`);
    const move = db.prepare(`update deliveries set object = ?, object_offset = ?,
      object_length = ? where sequence = ?`);
    const { object, offset } = other.place;
    try {
      move.run(object, offset, found.bytes, found.sequence);
      const changed = await user(`/app/api/deliveries/${receipt.artifact_id}/body`);
      expect([changed.status, await changed.json()]).toMatchObject([
        ...[409, { reason: 'artifact_damaged' }],
      ]);
      move.run(object.replace(/[0-9a-f]{4}$/, 'ffff'), 0, found.bytes, found.sequence);
      const missing = await user(`/app/api/deliveries/${receipt.artifact_id}/body`);
      expect([missing.status, await missing.json()]).toMatchObject([
        ...[409, { reason: 'artifact_damaged' }],
      ]);
    } finally {
      const { place } = found;
      move.run(place.object, place.offset, place.length, found.sequence);
      db.close();
    }
  });
});

describe('parsing again', () => {
  test('is tried first, and then brings what a corrected shape can read', async () => {
    const fields: Field[] = [...dayAndAmount, { name: 'shop' }];
    const own = await weir.source({ delivery: 'document', fields });
    const body = 'day,amount\n2026-05-01,7\n2026-05-02,x\n';
    const view = await own.sender.settled(await own.sender.document(body));
    expect(view).toMatchObject({ status: 'rejected', rejections: [{ field: 'shop' }] });
    await own.save({ fields: [...dayAndAmount, { name: 'shop', required: false }] });
    const path = `/app/api/deliveries/${view.artifact_id}`;
    const tried = await user(`${path}/dry-run`, { json: { shape_version: 2 } });
    expect([tried.status, (await tried.json()) as AnswerOf<typeof tryReparse>]).toMatchObject([
      200,
      {
        ...{ shape_version: 2, records: 2, parsed: 1, rejected: 1, newly_rejected: 1 },
        ...{ samples: { added: 1, changed: 0, gone: 0 }, refusal: null },
        rejections: [{ record: 2, line: 3, code: 'value_not_decimal' }],
      },
    ]);
    const still = await user(`${path}/dry-run`, { json: {} });
    expect(await still.json()).toMatchObject({ shape_version: 1, refusal: { field: 'shop' } });
    expect(await show(view.artifact_id)).toMatchObject({ status: 'rejected', generation: 0 });
    const begun = await user(`${path}/reparse`, { json: { shape_version: 2 } });
    const { generation, shape_version } = (await begun.json()) as Record<string, number>;
    expect([begun.status, shape_version]).toEqual([200, 2]);
    expect(await untilSettled(view.artifact_id, generation!)).toMatchObject({
      ...{ status: 'parsed', shape_version: 2, receipt_shape_version: 1, refusal: null },
    });
    expect((await own.sender.samples('from=2026-05-01')).samples).toMatchObject([{ value: '7' }]);
    const nothing = await user(`${path}/reparse`, { json: { shape_version: 77 } });
    expect([nothing.status, await nothing.json()]).toMatchObject([
      ...[404, { reason: 'shape_version_not_found' }],
    ]);
  });

  test('of all that were rejected goes by the current version', async () => {
    const own = await weir.source();
    const user = await signedIn(weir, { of: own.sourceId });
    const bad = await own.sender.settled(await own.sender.push({ day: 'x', amount: '1' }));
    const good = await own.sender.settled(
      await own.sender.push({ day: '2026-01-01', amount: '1' }),
    );
    await own.save({ name: 'renamed' });
    const path = `/app/api/sources/${own.sourceId}/reparse-rejected`;
    const answer = await user(path, { json: {} });
    expect(await answer.json()).toEqual({ deliveries: 1, shape_version: 2 });
    for (const end = Date.now() + 20_000; ; await sleep(25)) {
      const found = await get<One>(`/app/api/deliveries/${bad.artifact_id}`, user);
      if (found.shape_version === 2 && found.status === 'rejected') break;
      expect(Date.now()).toBeLessThan(end);
    }
    const other = await get<One>(`/app/api/deliveries/${good.artifact_id}`, user);
    expect(other.generation).toBe(0);
  });
});

describe('what may not be seen', () => {
  test.each(['', '/rejections', '/records?records=1', '/body'])(
    'is not there for another company: %s',
    async (rest) => {
      const stranger = await signedIn(weir);
      const [one] = (await list(pushes)).deliveries;
      for (const id of [one!.artifact_id, randomUUID(), 'nothing']) {
        const answer = await stranger(`/app/api/deliveries/${id}${rest}`);
        expect([answer.status, (await answer.json()) as object]).toMatchObject([
          ...[404, { code: 'not_found' }],
        ]);
      }
      const foreign = await stranger(`/app/api/sources/${pushes.sourceId}/deliveries`);
      expect(foreign.status).toBe(404);
    },
  );

  test('is not done by who may only read, nor for another company', async () => {
    const stranger = await signedIn(weir);
    const [one] = (await list(pushes)).deliveries;
    const paths = [
      `/app/api/deliveries/${one!.artifact_id}/dry-run`,
      `/app/api/deliveries/${one!.artifact_id}/reparse`,
      `/app/api/sources/${pushes.sourceId}/reparse-rejected`,
    ];
    for (const path of paths) {
      expect([path, (await reader(path, { json: {} })).status]).toEqual([path, 403]);
      expect([path, (await stranger(path, { json: {} })).status]).toEqual([path, 404]);
    }
    expect((await show(one!.artifact_id)).waits_for).toBeNull();
  });
});
