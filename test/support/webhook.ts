import { createHmac } from 'node:crypto';
import { type Answer, ask, type Question } from './ask.ts';
import { freshKey } from './sender.ts';
import type { TestSource } from './test-weir.ts';

export interface Webhook {
  readonly body?: string | Uint8Array;
  readonly deliveryId?: string;
  readonly secret?: string;
  /** Unix seconds; now when absent. */
  readonly time?: number | string;
  /** Over and beside those of a good webhook; undefined leaves one out. */
  readonly headers?: Readonly<Record<string, string | readonly string[] | undefined>>;
  readonly chunked?: boolean;
  /** Instead of the source's own. */
  readonly sourceId?: string;
}

export const goodEvent = '{"day":"2026-03-01","amount":"1"}';

/** The signature as a sender makes it (specification, "Webhook signature", 2). */
export function signature(
  secret: string,
  time: number | string,
  deliveryId: string,
  body: string | Uint8Array,
): string {
  return createHmac('sha256', secret).update(`${time}.${deliveryId}.`).update(body).digest('hex');
}

/** The headers of a webhook, signed. */
export function webhookHead(source: TestSource, webhook: Webhook = {}) {
  const { body = goodEvent, secret = source.secret, deliveryId = freshKey() } = webhook;
  const time = webhook.time ?? Math.floor(Date.now() / 1_000);
  const all = {
    'Content-Type': 'application/json',
    'Service-Signature': `t=${time},v1=${signature(secret, time, deliveryId, body)}`,
    'Service-Delivery-Id': deliveryId,
    ...webhook.headers,
  };
  const kept = Object.entries(all).filter(([, value]) => value !== undefined);
  return Object.fromEntries(kept) as NonNullable<Question['headers']>;
}

/** Sends one webhook, good in all that is not given. */
export function sendWebhook(source: TestSource, webhook: Webhook = {}): Promise<Answer> {
  const { body = goodEvent, chunked = false, sourceId = source.sourceId } = webhook;
  const headers = webhookHead(source, webhook);
  const url = `${source.weir.url}/v1/webhooks/${sourceId}`;
  return ask(url, { method: 'POST', headers, body, chunked });
}
