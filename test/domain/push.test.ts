import { describe, expect, test } from 'vitest';
import { readPush } from '../../src/domain/push.ts';

const bytes = (text: string) => Buffer.from(text);
const push = (change: object) =>
  bytes(
    JSON.stringify({
      idempotency_key: 'k',
      shape_version: 1,
      payload: { month: '2026-01', mrr: '1' },
      ...change,
    }),
  );

/** What the door finds wrong first, or null. */
function problemField(body: Buffer, required: readonly string[] | null = null): string | null {
  const reading = readPush(body, required);
  if (reading.kind === 'unreadable') return reading.problem.field;
  if (typeof reading.shapeVersion !== 'number') return reading.shapeVersion.field;
  return reading.payloadProblem?.field ?? null;
}

describe('a JSON push at the door (specification, "Delivery"; DECISIONS 6)', () => {
  test.each<[string, Buffer, string]>([
    ['no JSON', bytes('{'), 'body'],
    ['an array', bytes('[]'), 'body'],
    ['null', bytes('null'), 'body'],
    ['bytes that are no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'body'],
    ['a byte order mark', bytes('\ufeff{}'), 'body'],
    ['no idempotency key', push({ idempotency_key: undefined }), 'idempotency_key'],
    ['a number as idempotency key', push({ idempotency_key: 7 }), 'idempotency_key'],
    ['an empty idempotency key', push({ idempotency_key: '' }), 'idempotency_key'],
    ['a key of 201 characters', push({ idempotency_key: 'x'.repeat(201) }), 'idempotency_key'],
    ['a key with U+0000', push({ idempotency_key: 'a\0b' }), 'idempotency_key'],
    ['a key with a lone surrogate', push({ idempotency_key: 'a\ud800' }), 'idempotency_key'],
    ['no shape version', push({ shape_version: undefined }), 'shape_version'],
    ['shape version 0', push({ shape_version: 0 }), 'shape_version'],
    ['shape version 1.5', push({ shape_version: 1.5 }), 'shape_version'],
    ['a shape version as text', push({ shape_version: '1' }), 'shape_version'],
    ['no payload', push({ payload: undefined }), 'payload'],
    ['an array as payload', push({ payload: [] }), 'payload'],
    ['null as payload', push({ payload: null }), 'payload'],
    ['a number in the payload', push({ payload: { mrr: 1 } }), 'payload.mrr'],
    ['null in the payload', push({ payload: { mrr: null } }), 'payload.mrr'],
  ])('%s is refused', (_, body, field) => {
    expect(problemField(body)).toBe(field);
  });

  test('a payload without a required field is refused, naming it', () => {
    expect(problemField(push({}), ['month', 'plan'])).toBe('payload.plan');
    expect(problemField(push({}), ['month', 'mrr'])).toBeNull();
  });

  test('a required field is not found on the prototype', () => {
    expect(problemField(push({}), ['toString'])).toBe('payload.toString');
  });

  test('200 code points outside the basic plane are a key', () => {
    const reading = readPush(push({ idempotency_key: '😀'.repeat(200) }), null);
    expect(reading).toMatchObject({ kind: 'envelope', idempotencyKey: '😀'.repeat(200) });
    expect(problemField(push({ idempotency_key: '😀'.repeat(201) }))).toBe('idempotency_key');
  });

  test('of a name that stands twice the last one counts', () => {
    const body = bytes(
      '{"idempotency_key":"a","shape_version":1,"payload":{},"idempotency_key":"b"}',
    );
    expect(readPush(body, null)).toMatchObject({ idempotencyKey: 'b' });
  });

  test('a field called __proto__ is an ordinary field', () => {
    const body = bytes('{"idempotency_key":"a","shape_version":1,"payload":{"__proto__":"x"}}');
    expect(problemField(body, ['__proto__'])).toBeNull();
  });
});
