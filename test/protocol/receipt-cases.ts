import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Answer } from '../support/ask.ts';
import { jsonOf } from '../support/ask.ts';
import { accepted, freshKey, type Receipt } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

const uuid = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const row = (amount: number | string) => ({ day: '2026-03-01', amount: String(amount) });
const csv = (amount: number | string) => `day,amount\n2026-03-01,${amount}\n`;

/** "Receipt" and "Idempotency" (specification, "POST /v1/ingest"; DECISIONS 5). */
export function receiptCases(weir: TheWeir): void {
  test('a push is answered 202 with a receipt of exactly the four fields', async () => {
    const { sender } = await weir().source();
    const answer = await sender.push(row(1));
    expect(answer.status).toBe(202);
    expect(answer.headers['content-type']).toBe('application/json');
    expect(answer.headers['idempotency-replayed']).toBeUndefined();
    expect(jsonOf(answer)).toEqual({
      artifact_id: expect.stringMatching(uuid),
      shape_version: 1,
      status: 'queued',
      sandbox: false,
    });
  });

  test("a sandbox key's receipt says so, and its samples are marked test", async () => {
    const source = await weir().source();
    const sender = await source.withKey({ sandbox: true });
    const receipt = await sender.push(row(1));
    expect(accepted(receipt).sandbox).toBe(true);
    await sender.settled(receipt);
    const { samples } = await source.sender.samples('from=2026-03-01&to=2026-03-02');
    expect(samples.map((sample) => sample.sandbox)).toEqual([true]);
  });

  for (const way of ['push', 'document'] as const) {
    const send = (source: TestSource, amount: number | string, key: string) =>
      way === 'push'
        ? source.sender.push(row(amount), key)
        : source.sender.document(csv(amount), key);

    test(`${way}: the same key gives the first receipt, byte for byte`, async () => {
      const source = await weir().source({ delivery: way });
      const key = freshKey();
      const first = await send(source, 1, key);
      const again = await send(source, 1, key);
      expectReplay(again, first, { bodyDiffers: false });
      expect(await source.deliveries()).toHaveLength(1);
    });

    test(`${way}: other bytes under a used key give the first receipt and are told`, async () => {
      const source = await weir().source({ delivery: way });
      const key = freshKey();
      const before = await weir().storedObjects();
      const first = await send(source, 1, key);
      expectReplay(await send(source, 2, key), first, { bodyDiffers: true });
      expect(await source.deliveries()).toHaveLength(1);
      expect((await weir().storedObjects()).length).toBe(before.length + 1);
      const { artifact_id } = accepted(first);
      expect(await weir().catalog.deliveries.conflicts(artifact_id)).toBe(1);
    });

    test(`${way}: a receipt is given for bytes that are stored as they came`, async () => {
      const source = await weir().source({ delivery: way });
      const key = freshKey();
      const { artifact_id } = accepted(await send(source, '1.50', key));
      const delivery = await weir().catalog.deliveries.byArtifact(artifact_id);
      const parts: Buffer[] = [];
      for await (const part of await weir().artifacts.read(delivery!.place)) parts.push(part);
      const envelope = { idempotency_key: key, shape_version: 1, payload: row('1.50') };
      const sent = way === 'push' ? JSON.stringify(envelope) : csv('1.50');
      expect(Buffer.concat(parts).toString()).toBe(sent);
      expect(delivery!.sha256).toBe(createHash('sha256').update(sent).digest('hex'));
      expect(delivery!.bytes).toBe(Buffer.byteLength(sent));
    });
  }

  test('byte-identical documents under another key are one delivery with two names', async () => {
    const source = await weir().source({ delivery: 'document' });
    const [one, two] = [freshKey(), freshKey()];
    const first = await source.sender.document(csv(1), one);
    expectReplay(await source.sender.document(csv(1), two), first, { bodyDiffers: false });
    const { artifact_id } = accepted(first);
    expect(await weir().catalog.deliveries.idempotencyKeys(artifact_id)).toEqual([one, two]);
    expectReplay(await source.sender.document(csv(2), two), first, { bodyDiffers: true });
  });

  test('the same bytes stay one delivery under a later shape version', async () => {
    const source = await weir().source({ delivery: 'document' });
    const first = await source.sender.document(csv(1));
    await source.save({});
    const again = await source.sender.document(csv(1));
    expectReplay(again, first, { bodyDiffers: false });
    expect(accepted(again).shape_version).toBe(1);
    expect(accepted(await source.sender.document(csv(2))).shape_version).toBe(2);
  });

  test('production, sandbox and each source have keys and bytes of their own', async () => {
    const source = await weir().source({ delivery: 'document' });
    const sandbox = await source.withKey({ sandbox: true });
    const other = await weir().source({ delivery: 'document' });
    const key = freshKey();
    const answers = [
      await source.sender.document(csv(1), key),
      await sandbox.document(csv(1), key),
      await other.sender.document(csv(1), key),
    ];
    for (const answer of answers) expect(answer.headers['idempotency-replayed']).toBeUndefined();
    expect(new Set(answers.map((answer) => accepted(answer).artifact_id)).size).toBe(3);
  });

  test('a used key answers before shape_version and payload are judged', async () => {
    const { sender } = await weir().source();
    const key = freshKey();
    const first = await sender.push(row(1), key);
    const odd = [
      { idempotency_key: key },
      { idempotency_key: key, shape_version: 99, payload: row(1) },
      { idempotency_key: key, shape_version: 'one', payload: row(1) },
      { idempotency_key: key, shape_version: 1, payload: [] },
      { idempotency_key: key, shape_version: 1, payload: { day: 5 } },
    ];
    for (const body of odd) {
      expectReplay(await sender.pushText(JSON.stringify(body)), first, { bodyDiffers: true });
    }
  });

  test('a document with a used key answers before its shape version', async () => {
    const { sender } = await weir().source({ delivery: 'document' });
    const key = freshKey();
    const first = await sender.document(csv(1), key);
    const again = await sender.document(csv(1), key, { 'X-Service-Shape-Version': '99' });
    expectReplay(again, first, { bodyDiffers: false });
  });

  test('keys are compared exactly: case, spaces and composed characters differ', async () => {
    const { sender } = await weir().source();
    const keys = ['key', 'Key', ' key', 'key ', 'é', 'e\u0301', '𝛑'.repeat(200), '\u0001'];
    const ids = [];
    for (const key of keys) ids.push(accepted(await sender.push(row(1), key)).artifact_id);
    expect(new Set(ids).size).toBe(keys.length);
  });

  test('the last of two idempotency_key in one body is the key', async () => {
    const { sender } = await weir().source();
    const [one, two] = [freshKey(), freshKey()];
    const names = `"idempotency_key":"${one}","idempotency_key":"${two}"`;
    const first = await sender.pushText(
      `{${names},"shape_version":1,"payload":{"day":"2026-03-01","amount":"1"}}`,
    );
    expectReplay(await sender.push(row(1), two), first, { bodyDiffers: true });
  });

  test('a name may be sent with its characters escaped: only the text counts', async () => {
    const { sender } = await weir().source();
    const key = freshKey();
    const escaped = [...key].map((c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
    const first = await sender.pushText(
      `{"idempotency_key":"${escaped.join('')}","shape_version":1,` +
        `"payload":${JSON.stringify(row(1))}}`,
    );
    expectReplay(await sender.push(row(1), key), first, { bodyDiffers: true });
  });

  const races: Record<string, (source: TestSource, i: number) => Promise<Answer>> = {
    '200 racing identical pushes': ({ sender, sourceId }) => sender.push(row(1), sourceId),
    '200 racing identical documents': ({ sender, sourceId }) => sender.document(csv(1), sourceId),
    '200 racing documents with the same bytes under 200 keys': ({ sender }, i) =>
      sender.document(csv(1), `race-${i}`),
    '200 racing documents with 200 bodies under one key': ({ sender, sourceId }, i) =>
      sender.document(csv(i), sourceId),
    '200 racing documents, ten keys over one body': ({ sender }, i) =>
      sender.document(csv(1), `race-${i % 10}`),
  };
  test.each(Object.entries(races))(
    '%s give one artifact and 200 equal receipts',
    async (_, send) => {
      const delivery = send.toString().includes('.push(') ? 'push' : 'document';
      const source = await weir().source({ delivery });
      const before = await weir().storedObjects();
      const answers = await Promise.all(Array.from({ length: 200 }, (_, i) => send(source, i)));
      expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([202]));
      expect(new Set(answers.map((answer) => answer.text)).size).toBe(1);
      const firsts = answers.filter((answer) => !answer.headers['idempotency-replayed']);
      expect(firsts).toHaveLength(1);
      expect(await source.deliveries()).toEqual([accepted(answers[0]!).artifact_id]);
      expect((await weir().storedObjects()).length).toBe(before.length + 1);
      const view = await source.sender.settled(answers[0]!);
      expect(view.counts.samples).toBe(1);
      const { samples } = await source.sender.samples('from=2026-03-01&to=2026-03-02');
      expect(samples).toHaveLength(1);
    },
  );
}

function expectReplay(again: Answer, first: Answer, { bodyDiffers }: { bodyDiffers: boolean }) {
  expect(again.status).toBe(202);
  expect(again.text).toBe(first.text);
  expect(again.headers['idempotency-replayed']).toBe('true');
  expect(again.headers['idempotency-body-differs']).toBe(bodyDiffers ? 'true' : undefined);
  expect(jsonOf<Receipt>(again).status).toBe('queued');
}
