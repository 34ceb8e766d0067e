import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  deliveryIdProblem,
  readSignatureHeader,
  signatureCheck,
  signatureTimeProblem,
  signDelivery,
} from '../../src/domain/signature.ts';

const hex = 'ab'.repeat(32);

describe('the header Service-Signature (specification, "Webhook signature"; DECISIONS 6)', () => {
  test.each([
    [`t=1,v1=${hex}`, 1],
    [`v1=${hex},t=1`, 1],
    [`t=1,v1=${hex},v1=${hex}`, 2],
    [`t=1,v0=xyz,v1=${hex},v2=`, 1],
  ])('%j is read', (header, count) => {
    const reading = readSignatureHeader(header);
    expect(reading).toMatchObject({ time: 1, timeText: '1' });
    expect('signatures' in reading && reading.signatures).toHaveLength(count);
  });

  test.each([
    ['nothing', ''],
    ['a space', `t=1, v1=${hex}`],
    ['a tab at the end', `t=1,v1=${hex}\t`],
    ['no time', `v1=${hex}`],
    ['two times', `t=1,t=1,v1=${hex}`],
    ['a negative time', `t=-1,v1=${hex}`],
    ['a time with a fraction', `t=1.5,v1=${hex}`],
    ['an empty time', `t=,v1=${hex}`],
    ['no signature', 't=1'],
    ['only another scheme', `t=1,v2=${hex}`],
    ['upper case hex', `t=1,v1=${hex.toUpperCase()}`],
    ['63 digits', `t=1,v1=${hex.slice(1)}`],
    ['one good and one bad v1', `t=1,v1=${hex},v1=x`],
    ['a part without a name', `t=1,v1=${hex},=x`],
    ['an empty part', `t=1,,v1=${hex}`],
    ['a part without =', `t=1,v1=${hex},x`],
  ])('%s is refused', (_, header) => {
    expect(readSignatureHeader(header)).toHaveProperty('problem');
  });
});

describe('the time of a signature', () => {
  test.each([
    [0, true],
    [300, true],
    [-300, true],
    [301, false],
    [-301, false],
  ])('%i seconds off: taken is %j', (off, taken) => {
    expect(signatureTimeProblem(1_000_000 + off, 1_000_000_999) === null).toBe(taken);
  });
});

describe('a delivery id', () => {
  test.each(['evt_1', 'a:b-c', 'X'.repeat(200)])('%j is taken', (id) => {
    expect(deliveryIdProblem(id)).toBeNull();
  });
  test.each([undefined, '', 'a b', 'a.b', 'ü', 'X'.repeat(201), 'a/b'])('%j is refused', (id) => {
    expect(deliveryIdProblem(id)).toMatch(/\.$/);
  });
});

describe('a signature', () => {
  const body = Buffer.from('{"a":1}');

  test('is the HMAC of time, delivery id and raw body under the secret as shown', () => {
    const expected = createHmac('sha256', 'whsec_x').update('7.id.{"a":1}').digest('hex');
    expect(signDelivery('whsec_x', 'id', body, 7_999)).toBe(`t=7,v1=${expected}`);
  });

  test.each([
    ['as it was signed', 'whsec_x', 'id', '{"a":1}', true],
    ['under another secret', 'whsec_y', 'id', '{"a":1}', false],
    ['for another delivery id', 'whsec_x', 'di', '{"a":1}', false],
    ['of another body', 'whsec_x', 'id', '{"a":2}', false],
  ])('%s: it holds is %5$j', (_, secret, id, text, holds) => {
    const reading = readSignatureHeader(signDelivery('whsec_x', 'id', body, 7_000));
    if ('problem' in reading) throw new Error(reading.problem);
    const check = signatureCheck(secret, reading.timeText, id);
    for (const byte of Buffer.from(text)) check.update(Buffer.of(byte));
    expect(check.matches(reading.signatures)).toBe(holds);
  });

  test('one of several that holds is enough, wherever it stands', () => {
    const good = Buffer.from(signDelivery('s', 'id', body, 7_000).slice(-64), 'hex');
    const bad = Buffer.alloc(32);
    for (const signatures of [
      [good, bad],
      [bad, good],
    ]) {
      const check = signatureCheck('s', '7', 'id');
      check.update(body);
      expect(check.matches(signatures)).toBe(true);
    }
  });
});
