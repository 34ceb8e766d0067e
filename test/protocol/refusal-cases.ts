import { expect, test } from 'vitest';
import { type Answer, jsonOf } from '../support/ask.ts';
import { accepted, freshKey, type Sender } from '../support/sender.ts';
import type { TestSource } from '../support/test-weir.ts';
import type { TheWeir } from './suite.ts';

const good = { day: '2026-03-01', amount: '1' };
const goodCsv = 'day,amount\n2026-03-01,1\n';
const json = { 'Content-Type': 'application/json' };
const envelope = (change: object) =>
  JSON.stringify({ idempotency_key: 'refused', shape_version: 1, payload: good, ...change });
const without = (name: string) => envelope({ [name]: undefined });

/** What is wrong with a push → the body that has it, and the `field` of its 400. */
const badPushes: Record<string, readonly [string | Uint8Array, string]> = {
  'no idempotency_key': [without('idempotency_key'), 'idempotency_key'],
  'an idempotency_key of null': [envelope({ idempotency_key: null }), 'idempotency_key'],
  'an idempotency_key that is a number': [envelope({ idempotency_key: 7 }), 'idempotency_key'],
  'an empty idempotency_key': [envelope({ idempotency_key: '' }), 'idempotency_key'],
  'an idempotency_key of 201 characters': [
    envelope({ idempotency_key: 'x'.repeat(201) }),
    'idempotency_key',
  ],
  'an idempotency_key of 201 characters outside the BMP': [
    envelope({ idempotency_key: '𝛑'.repeat(201) }),
    'idempotency_key',
  ],
  'an idempotency_key with U+0000': [envelope({ idempotency_key: 'a\0b' }), 'idempotency_key'],
  'an idempotency_key with a lone surrogate': [
    envelope({}).replace('refused', '\\ud800'),
    'idempotency_key',
  ],
  'no shape_version': [without('shape_version'), 'shape_version'],
  'a shape_version of 0': [envelope({ shape_version: 0 }), 'shape_version'],
  'a shape_version of −1': [envelope({ shape_version: -1 }), 'shape_version'],
  'a shape_version of 1.5': [envelope({ shape_version: 1.5 }), 'shape_version'],
  'a shape_version that is text': [envelope({ shape_version: '1' }), 'shape_version'],
  'a shape_version of null': [envelope({ shape_version: null }), 'shape_version'],
  'a shape_version that does not exist': [envelope({ shape_version: 2 }), 'shape_version'],
  'a shape_version beyond every integer': [
    envelope({}).replace('"shape_version":1', '"shape_version":1e300'),
    'shape_version',
  ],
  'a shape_version just within the integers': [
    envelope({ shape_version: Number.MAX_SAFE_INTEGER }),
    'shape_version',
  ],
  'no payload': [without('payload'), 'payload'],
  'a payload of null': [envelope({ payload: null }), 'payload'],
  'a payload that is an array': [envelope({ payload: [good] }), 'payload'],
  'a payload that is text': [envelope({ payload: 'x' }), 'payload'],
  'a payload without a required field': [envelope({ payload: { day: '1' } }), 'payload.amount'],
  'an empty payload': [envelope({ payload: {} }), 'payload.day'],
  'a payload with a number': [envelope({ payload: { ...good, amount: 1 } }), 'payload.amount'],
  'a payload with null': [envelope({ payload: { ...good, amount: null } }), 'payload.amount'],
  'a payload with an object': [envelope({ payload: { ...good, day: {} } }), 'payload.day'],
  'an undeclared field that is no text': [
    envelope({ payload: { ...good, extra: true } }),
    'payload.extra',
  ],
  'no JSON': ['day=2026-03-01', 'body'],
  'JSON cut short': [envelope({}).slice(0, -1), 'body'],
  'text after the JSON': [`${envelope({})}x`, 'body'],
  'an array for a body': [`[${envelope({})}]`, 'body'],
  'null for a body': ['null', 'body'],
  'a text for a body': ['"x"', 'body'],
  'a byte order mark': [`\ufeff${envelope({})}`, 'body'],
  'invalid UTF-8': [Buffer.from(envelope({}).replace('refused', '\xff'), 'latin1'), 'body'],
  'an overlong UTF-8 form': [
    Buffer.from(envelope({}).replace('refused', '\xc0\xaf'), 'latin1'),
    'body',
  ],
  'a surrogate in UTF-8': [
    Buffer.from(envelope({}).replace('refused', '\xed\xa0\x80'), 'latin1'),
    'body',
  ],
  'UTF-16': [Buffer.from(envelope({}), 'utf16le'), 'body'],
  'nothing at all': ['', 'body'],
  'spaces only': ['   ', 'body'],
  'JSON nested too deep': [`${'['.repeat(100_000)}`, 'body'],
};

/** The same for documents: headers instead of members. */
const badDocuments: Record<string, readonly [Record<string, string | string[]>, string]> = {
  'an empty Idempotency-Key': [{ 'Idempotency-Key': '' }, 'Idempotency-Key'],
  'an Idempotency-Key of 201 characters': [
    { 'Idempotency-Key': 'x'.repeat(201) },
    'Idempotency-Key',
  ],
  'an Idempotency-Key with a space': [{ 'Idempotency-Key': 'a b' }, 'Idempotency-Key'],
  'an Idempotency-Key with a tab': [{ 'Idempotency-Key': 'a\tb' }, 'Idempotency-Key'],
  // The parser drops such characters at the end of a header, so the case has one within.
  'an Idempotency-Key beyond ASCII': [{ 'Idempotency-Key': 'cl\xe9s' }, 'Idempotency-Key'],
  'two Idempotency-Key lines': [{ 'Idempotency-Key': ['a', 'b'] }, 'Idempotency-Key'],
  'two equal Idempotency-Key lines': [{ 'Idempotency-Key': ['a', 'a'] }, 'Idempotency-Key'],
  'another Content-Type': [{ 'Content-Type': 'text/csv' }, 'Content-Type'],
  'the Content-Type of a push': [json, 'Content-Type'],
  'an empty Content-Type': [{ 'Content-Type': '' }, 'Content-Type'],
  'two Content-Type lines': [
    { 'Content-Type': ['application/octet-stream', 'application/octet-stream'] },
    'Content-Type',
  ],
  'an unknown Content-Encoding': [{ 'Content-Encoding': 'br' }, 'Content-Encoding'],
  'an empty Content-Encoding': [{ 'Content-Encoding': '' }, 'Content-Encoding'],
  'two encodings': [{ 'Content-Encoding': 'gzip, gzip' }, 'Content-Encoding'],
  'two Content-Encoding lines': [{ 'Content-Encoding': ['gzip', 'gzip'] }, 'Content-Encoding'],
  'a shape version that is no number': [
    { 'X-Service-Shape-Version': 'one' },
    'X-Service-Shape-Version',
  ],
  'a shape version of 0': [{ 'X-Service-Shape-Version': '0' }, 'X-Service-Shape-Version'],
  'a shape version of +1': [{ 'X-Service-Shape-Version': '+1' }, 'X-Service-Shape-Version'],
  'an empty shape version': [{ 'X-Service-Shape-Version': '' }, 'X-Service-Shape-Version'],
  'a shape version that does not exist': [
    { 'X-Service-Shape-Version': '2' },
    'X-Service-Shape-Version',
  ],
  'two shape versions': [{ 'X-Service-Shape-Version': ['1', '1'] }, 'X-Service-Shape-Version'],
  'two Authorization lines': [{ Authorization: ['Bearer a', 'Bearer b'] }, 'Authorization'],
};

/** 400 with `field` (specification, "POST /v1/ingest"; DECISIONS 5 and 6). */
export function refusalCases(weir: TheWeir): void {
  test.each(Object.entries(badPushes))('a push with %s is 400', async (_, [body, field]) => {
    const source = await weir().source();
    await refuses(source, field, () => source.sender.pushText(body));
    if (typeof body === 'string' && body.includes('"refused"')) {
      const retry = await source.sender.push(good, 'refused');
      expect(retry.headers['idempotency-replayed'], 'the key was not claimed').toBeUndefined();
      accepted(retry);
    }
  });

  test.each(Object.entries(badDocuments))(
    'a document with %s is 400',
    async (_, [headers, field]) => {
      const source = await weir().source({ delivery: 'document' });
      const key = freshKey();
      await refuses(source, field, () => source.sender.document(goodCsv, key, headers));
      const retry = await source.sender.document(goodCsv, key);
      expect(retry.headers['idempotency-replayed'], 'the key was not claimed').toBeUndefined();
      accepted(retry);
    },
  );

  test('a document without Idempotency-Key is 400', async () => {
    const source = await weir().source({ delivery: 'document' });
    const headers = { 'Content-Type': 'application/octet-stream' };
    await refuses(source, 'Idempotency-Key', () => source.sender.ingest(goodCsv, headers));
  });

  test('a document without Content-Type is 400', async () => {
    const source = await weir().source({ delivery: 'document' });
    const headers = { 'Idempotency-Key': freshKey() };
    await refuses(source, 'Content-Type', () => source.sender.ingest(goodCsv, headers));
  });

  test.each([false, true])('an empty document is 400 (chunked: %s)', async (chunked) => {
    const source = await weir().source({ delivery: 'document' });
    const send = () => source.sender.document('', freshKey(), {}, chunked);
    await refuses(source, 'body', send);
  });

  test('an empty chunked push is 400', async () => {
    const source = await weir().source();
    await refuses(source, 'body', () => source.sender.pushText('', true));
  });

  const pushHeaders: Record<string, readonly [Record<string, string>, string]> = {
    'no Content-Type': [{}, 'Content-Type'],
    'the Content-Type of a document': [
      { 'Content-Type': 'application/octet-stream' },
      'Content-Type',
    ],
    'a Content-Type that only begins well': [
      { 'Content-Type': 'application/jsonl' },
      'Content-Type',
    ],
    'Content-Encoding gzip': [{ ...json, 'Content-Encoding': 'gzip' }, 'Content-Encoding'],
  };
  test.each(Object.entries(pushHeaders))('a push with %s is 400', async (_, [headers, field]) => {
    const source = await weir().source();
    await refuses(source, field, () => source.sender.ingest(envelope({}), headers));
  });

  test('a large push is judged like a small one', async () => {
    const source = await weir().source();
    const payload = { ...good, note: 'x'.repeat(200_000) };
    const bad = envelope({ payload: { ...payload, amount: 1 } });
    await refuses(source, 'payload.amount', () => source.sender.pushText(bad));
    const cut = envelope({ payload }).slice(0, -1);
    await refuses(source, 'body', () => source.sender.pushText(cut));
    const view = await source.sender.settled(await source.sender.push(payload));
    expect(view.counts.samples).toBe(1);
    expect(view.undeclared_fields).toEqual(['note']);
  });

  const takenTypes = [
    'application/json; charset=utf-8',
    'Application/JSON',
    'application/json ;x="y"',
  ];
  test.each(takenTypes)('a push of the Content-Type %s is taken', async (type) => {
    const { sender } = await weir().source();
    accepted(await sender.ingest(envelope({}), { 'Content-Type': type }));
  });

  test('every shape version that exists is taken, each with its own required fields', async () => {
    const source = await weir().source();
    await source.save({
      fields: [
        { name: 'day', role: 'period' },
        { name: 'sum', role: 'value', metric: 'amount' },
      ],
    });
    const { sender } = source;
    expect(accepted(await sender.push(good, freshKey(), 1)).shape_version).toBe(1);
    const second = { day: '2026-03-02', sum: '2' };
    expect(accepted(await sender.push(second, freshKey(), 2)).shape_version).toBe(2);
    await refuses(source, 'payload.sum', () => sender.push(good, freshKey(), 2));
    await refuses(source, 'payload.amount', () => sender.push(second, freshKey(), 1));
    await refuses(source, 'shape_version', () => sender.push(second, freshKey(), 3));
  });

  test('no message quotes what was sent', async () => {
    const { sender } = await weir().source();
    const secret = 'very-secret-cell';
    const bodies = [`{"${secret}`, envelope({ payload: { ...good, amount: [secret] } }), secret];
    for (const body of bodies) {
      const { message } = jsonOf<{ message: string }>(await sender.pushText(body));
      expect(message).not.toContain(secret);
    }
  });

  async function refuses(
    source: TestSource,
    field: string,
    send: (sender: Sender) => Promise<Answer>,
  ): Promise<void> {
    const [objects, deliveries] = [await weir().storedObjects(), await source.deliveries()];
    const answer = await send(source.sender);
    expect([answer.status, answer.text]).toEqual([400, expect.any(String)]);
    expect(answer.headers['content-type']).toBe('application/json');
    const message = expect.stringMatching(/^[A-Z].*\.$/);
    expect(jsonOf(answer)).toEqual({ code: 'invalid_argument', message, field });
    expect(await weir().storedObjects()).toEqual(objects);
    expect(await source.deliveries()).toEqual(deliveries);
  }
}
