import fc from 'fast-check';
import { expect, test } from 'vitest';
import { bytesBody } from '../../src/client/body.ts';
import { signatureHeader } from '../../src/client/signature.ts';
import { readSignatureHeader, signatureCheck, signDelivery } from '../../src/domain/signature.ts';

const id = fc.stringMatching(/^[A-Za-z0-9_:-]{1,200}$/);
const time = fc.integer({ min: 0, max: 99_999_999_999_999 });

test("the sender's signature is the service's, for any secret, id, body and time", async () => {
  await fc.assert(
    fc.asyncProperty(fc.string(), id, fc.uint8Array(), time, async (secret, one, body, now) => {
      const header = await signatureHeader(secret, one, bytesBody(body).parts(), now);
      expect(header).toBe(signDelivery(secret, one, body, now));
    }),
  );
});

test('a body that comes in many parts is signed as a whole', async () => {
  const body = Buffer.alloc(300_000, 'körper');
  const header = await signatureHeader('whsec_x', 'evt_1', bytesBody(body).parts(), 7_999);
  const reading = readSignatureHeader(header);
  if ('problem' in reading) throw new Error(reading.problem);
  expect(reading.time).toBe(7);
  const check = signatureCheck('whsec_x', reading.timeText, 'evt_1');
  check.update(body);
  expect(check.matches(reading.signatures)).toBe(true);
});
