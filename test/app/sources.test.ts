import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Field } from '../../src/domain/nouns.ts';
import { accepted } from '../support/sender.ts';
import { type SignedInUser, signedIn } from '../support/signed-in.ts';
import { dayAndAmount, type TestSource, TestWeir } from '../support/test-weir.ts';
import { json, told } from './support.ts';

/** Parsing waits for whatever else the machine does. */
const patient = { timeout: 15_000 };
const instant = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);

describe('sources, shapes and metrics in the app', () => {
  let weir: TestWeir;
  let source: TestSource;
  let ada: SignedInUser;
  let of: string;

  beforeAll(async () => {
    weir = await TestWeir.start();
    source = await weir.source();
    of = `/app/api/sources/${source.sourceId}`;
    ada = await signedIn(weir, { of: source.sourceId, email: 'ada@example.com' });
  });
  afterAll(() => weir?.stop());

  describe('a source', () => {
    test('is made, read and listed', async () => {
      const body = { name: 'Billing', delivery: 'document', format: 'tsv', fields: dayAndAmount };
      const made = await json(ada('/app/api/sources', { json: body }));
      expect(made).toEqual({ source_id: uuid, shape_version: 1 });
      const read = await json(ada(`/app/api/sources/${made.source_id}`));
      expect(read).toEqual({ ...body, ...made, created_at: instant });
      const { sources } = await json(ada('/app/api/sources'));
      expect(sources.find((one: typeof made) => one.source_id === made.source_id)).toEqual({
        ...{ ...made, name: 'Billing', delivery: 'document', created_at: instant },
        ...{ last_delivery: null, backlog: 0, backlog_cut: false },
        rejected_24h: { records: 0, deliveries: 0 },
        rejected_sandbox_24h: { records: 0, deliveries: 0 },
      });
    });

    test('tells its last delivery and what was rejected, in the list', async () => {
      const other = await weir.source();
      accepted(await other.sender.push({ day: '2026-03-01', amount: 'much' }));
      accepted(await other.sender.push({ day: '2026-03-01', amount: '1' }));
      await expect
        .poll(async () => {
          const { sources } = await json(ada('/app/api/sources'));
          const { backlog, last_delivery, rejected_24h } = sources.find(
            (one: { source_id: string }) => one.source_id === other.sourceId,
          );
          return { backlog, last_delivery, rejected_24h };
        }, patient)
        .toEqual({
          backlog: 0,
          last_delivery: { received_at: instant, sandbox: false },
          rejected_24h: { records: 1, deliveries: 1 },
        });
    });

    test('that is a webhook source shows its secret once, and needs a fresh check', async () => {
      const body = { name: 'Events', delivery: 'webhook', fields: dayAndAmount };
      const stale = await signedIn(weir, { of: source.sourceId, fresh: false });
      expect(await told(stale('/app/api/sources', { json: body }))).toMatchObject({
        ...{ status: 403, code: 'fresh_sign_in_needed' },
      });
      const made = await json(ada('/app/api/sources', { json: body }));
      expect(made.signing_secret).toMatch(/^whsec_[A-Za-z0-9_-]{43}$/);
      const read = await (await ada(`/app/api/sources/${made.source_id}`)).text();
      expect(read).not.toContain('whsec_');
    });

    test('is refused with a shape that is none, naming the field', async () => {
      const fields = [...dayAndAmount, { name: 'x', role: 'value', metric: 'nothing' }];
      const body = { name: 'Wrong', delivery: 'push', fields };
      expect(await told(ada('/app/api/sources', { json: body }))).toMatchObject({
        ...{ status: 409, code: 'conflict', reason: 'metric_undeclared', field: 'x' },
      });
    });
  });

  describe('a save', () => {
    test('makes the next version, and says who saved which', async () => {
      const one = await weir.source();
      const at = `/app/api/sources/${one.sourceId}`;
      const fields = [...dayAndAmount, { name: 'note', required: false }];
      const saved = await json(ada(at, { json: { based_on: 1, name: 'Renamed', fields } }));
      expect(saved).toEqual({ source_id: one.sourceId, shape_version: 2, withdrawn: null });
      const { versions, more } = await json(ada(`${at}/versions`));
      expect(more).toBe(false);
      expect(versions).toMatchObject([
        { version: 2, saved_by: 'ada@example.com', fields_declared: 3, saved_at: instant },
        { version: 1, saved_by: 'test', fields_declared: 2 },
      ]);
      expect(await json(ada(`${at}/versions/1`))).toMatchObject({ fields: dayAndAmount });
      expect(await told(ada(`${at}/versions/3`))).toMatchObject({ status: 404 });
      expect(await told(ada(`${at}/versions/x`))).toMatchObject({ status: 404 });
    });

    test('based on an older version is refused and changes nothing', async () => {
      const one = await weir.source();
      const at = `/app/api/sources/${one.sourceId}`;
      await ada(at, { json: { based_on: 1, name: 'First' } });
      expect(await told(ada(at, { json: { based_on: 1, name: 'Second' } }))).toMatchObject({
        ...{ status: 409, reason: 'version_outdated' },
      });
      expect(await json(ada(at))).toMatchObject({ name: 'First', shape_version: 2 });
    });

    test('that makes it a webhook source needs a fresh check and shows a secret', async () => {
      const one = await weir.source();
      const at = `/app/api/sources/${one.sourceId}`;
      const body = { based_on: 1, delivery: 'webhook' };
      const stale = await signedIn(weir, { of: one.sourceId, fresh: false });
      expect(await told(stale(at, { json: body }))).toMatchObject({ code: 'fresh_sign_in_needed' });
      expect((await json(ada(at, { json: body }))).signing_secret).toMatch(/^whsec_/);
    });

    test('that marks a field personal withdraws its samples before it answers', async () => {
      const fields: Field[] = [
        { name: 'day', role: 'period' },
        { name: 'visits', role: 'value', metric: 'visits' },
        { name: 'device', role: 'label' },
        { name: 'place', role: 'label' },
        { name: 'amount', role: 'value', metric: 'amount' },
      ];
      const one = await weir.source({ fields });
      const at = `/app/api/sources/${one.sourceId}`;
      const record = { day: '2026-03-01', visits: '1', device: 'a', place: 'b', amount: '2' };
      await one.sender.settled(await one.sender.push(record));
      expect((await one.sender.samples()).samples).toHaveLength(2);
      const personal = [fields[0], fields[4], { name: 'device', personal: true }];
      const asked = { fields: personal, deliveries: 0 };
      expect(await json(ada(`${at}/dry-run`, { json: asked }))).toEqual({
        ...{ withdraws: 1, deliveries: [] },
      });
      const saved = await json(ada(at, { json: { based_on: 1, fields: personal } }));
      expect(saved.withdrawn).toEqual({ deliveries: 1, waiting: 0 });
      expect((await one.sender.samples()).samples).toEqual([]);
    });
  });

  describe('a dry run', () => {
    test('says what unsaved fields make of stored deliveries, and writes nothing', async () => {
      const one = await weir.source({ delivery: 'document' });
      const at = `/app/api/sources/${one.sourceId}`;
      const csv = 'day,amount,price\n2026-03-01,1,1\n2026-03-02,2,3\n2026-03-03,3,x\n';
      const { artifact_id } = await one.sender.settled(await one.sender.document(csv));
      const fields = [dayAndAmount[0], { name: 'price', role: 'value', metric: 'amount' }];
      const before = await weir.catalog.deliveries.byArtifact(artifact_id);
      const [key] = await weir.catalog.deliveries.idempotencyKeys(artifact_id);
      const run = await json(ada(`${at}/dry-run`, { json: { fields, deliveries: 5 } }));
      expect(run).toEqual({
        withdraws: 0,
        deliveries: [
          {
            ...{ artifact_id, received_at: instant, sandbox: false, status: 'parsed' },
            idempotency_key: key,
            left_out: null,
            tried: {
              ...{ records: 3, parsed: 2, rejected: 1, newly_rejected: 1, refusal: null },
              samples: { added: 0, changed: 1, gone: 1 },
              rejections: [
                {
                  ...{ record: 3, line: 4, field: 'price', code: 'value_not_decimal' },
                  message: expect.any(String),
                },
              ],
            },
          },
        ],
      });
      expect(await weir.catalog.deliveries.byArtifact(artifact_id)).toEqual(before);
      expect(await json(ada(at))).toMatchObject({ shape_version: 1 });
    });

    test('tells a refusal of the whole delivery, and that its samples would be gone', async () => {
      const one = await weir.source({ delivery: 'document' });
      await one.sender.settled(await one.sender.document('day,amount\n2026-03-01,1\n'));
      const fields = [...dayAndAmount, { name: 'missing' }];
      const at = `/app/api/sources/${one.sourceId}/dry-run`;
      const { deliveries } = await json(ada(at, { json: { fields, deliveries: 1 } }));
      expect(deliveries[0].tried).toMatchObject({
        ...{ refusal: { code: 'header_field_missing', field: 'missing' }, newly_rejected: 1 },
        samples: { added: 0, changed: 0, gone: 1 },
      });
    });

    test('leaves out a delivery with too many samples to compare, and says so', async () => {
      const one = await weir.source({ delivery: 'document' });
      const body = `day,amount\n${'2026-03-01,1\n'.repeat(200_001)}`;
      await one.sender.settled(await one.sender.document(body));
      const asked = { fields: dayAndAmount, deliveries: 1 };
      const { deliveries } = await json(
        ada(`/app/api/sources/${one.sourceId}/dry-run`, { json: asked }),
      );
      expect(deliveries).toMatchObject([{ tried: null, left_out: 'too_large' }]);
    });
  });

  describe('metrics', () => {
    test('are declared once, listed and renamed; labels stay', async () => {
      const body = { key: 'mrr', name: 'Recurring', unit: 'EUR', labels: ['plan', 'country'] };
      const made = { ...body, labels: ['country', 'plan'] };
      expect(await json(ada('/app/api/metrics', { json: body }))).toEqual(made);
      expect(await told(ada('/app/api/metrics', { json: body }))).toMatchObject({
        ...{ status: 409, reason: 'metric_exists', field: 'key' },
      });
      const renamed = { name: 'Monthly recurring', unit: 'USD' };
      expect(await json(ada('/app/api/metrics/mrr', { json: renamed }))).toEqual({
        ...made,
        ...renamed,
      });
      const { metrics } = await json(ada('/app/api/metrics'));
      expect(metrics.at(-1)).toEqual({ ...made, ...renamed });
      expect(await told(ada('/app/api/metrics/none', { json: renamed }))).toMatchObject({
        status: 404,
      });
    });

    test.each([
      ['key', { key: 'Mrr' }],
      ['key', { key: 'm'.repeat(64) }],
      ['labels', { labels: ['a', 'a'] }],
      ['name', { name: ' ' }],
      ['unit', { unit: 'a\0b' }],
      ['labels.1', { labels: ['a', '\ud800'] }],
    ])('are refused with a bad %s', async (field, wrong) => {
      const body = { key: 'fine', name: 'Fine', unit: 'one', labels: [], ...wrong };
      expect(await told(ada('/app/api/metrics', { json: body }))).toMatchObject({
        ...{ status: 400, code: 'invalid_argument', field },
      });
    });
  });

  describe('who may', () => {
    const fields = dayAndAmount;
    const posts: [string, object][] = [
      ['', { based_on: 1 }],
      ['/dry-run', { fields, deliveries: 1 }],
    ];

    test('see a source: its company; to all others it is not there', async () => {
      const stranger = await signedIn(weir);
      for (const path of ['', '/versions', '/versions/1']) {
        expect(await told(stranger(of + path))).toMatchObject({ status: 404, code: 'not_found' });
      }
      for (const [path, body] of posts) {
        expect(await told(stranger(of + path, { json: body }))).toMatchObject({ status: 404 });
      }
      expect(await json(stranger('/app/api/sources'))).toEqual({ sources: [] });
    });

    test('change something: who manages sources', async () => {
      const permissions = ['sources.read'] as const;
      const reader = await signedIn(weir, { of: source.sourceId, permissions });
      expect((await reader(of)).status).toBe(200);
      const all: [string, object][] = [
        ...posts.map(([path, body]): [string, object] => [of + path, body]),
        ['/app/api/sources', { name: 'x', delivery: 'push', fields }],
        ['/app/api/metrics', { key: 'x', name: 'x', unit: 'x', labels: [] }],
        ['/app/api/metrics/amount', { name: 'x', unit: 'x' }],
      ];
      for (const [path, body] of all) {
        expect(await told(reader(path, { json: body }))).toMatchObject({
          ...{ status: 403, code: 'permission_needed' },
        });
      }
    });
  });
});
