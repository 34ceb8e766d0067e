import { createHmac } from 'node:crypto';

/**
 * The value of `Service-Signature` (specification, "Webhook signature"): the body is signed as it
 * is read, so that it need not be held.
 *
 * @param secret as it was shown, prefix included
 */
export async function signatureHeader(
  secret: string,
  deliveryId: string,
  body: AsyncIterable<Uint8Array>,
  nowMs: number,
): Promise<string> {
  const seconds = Math.floor(nowMs / 1_000);
  const hmac = createHmac('sha256', secret).update(`${seconds}.${deliveryId}.`);
  for await (const part of body) hmac.update(part);
  return `t=${seconds},v1=${hmac.digest('hex')}`;
}
