import { setTimeout as sleep } from 'node:timers/promises';
import { bytesBody } from '../../client/body.ts';
import type { Delivered } from '../../client/deliver.ts';
import { push, pushDocument, sendWebhook } from '../../client/sender.ts';
import type { DeliveryView } from '../../serve/deliveries.ts';
import type { SeriesDelivery } from './series.ts';

/** A sample as the API answers it. */
export interface ReadSample {
  readonly metric: string;
  readonly period_start: string;
  readonly value: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly artifact_id: string;
}

export interface ReadAnswer {
  readonly window: { readonly from: string; readonly to: string; readonly narrowed: boolean };
  readonly samples: readonly ReadSample[];
  readonly truncated: boolean;
}

/** What a customer's system knows of its source. */
export interface SourceAccess {
  readonly url: string;
  readonly sourceId: string;
  readonly accessKey: string;
  /** Of a webhook source. */
  readonly signingSecret: string | null;
}

const settledWait = { firstMs: 100, maxMs: 2_000 };

/** Speaks to one source, as a customer's system does. */
export class SourceClient {
  readonly #access: SourceAccess;

  constructor(access: SourceAccess) {
    this.#access = access;
  }

  /** @returns the artifact id out of the receipt */
  async send(delivery: SeriesDelivery): Promise<string> {
    const { receipt } = await this.#deliver(delivery);
    return receipt.artifact_id;
  }

  #deliver({ key, body }: SeriesDelivery): Promise<Delivered> {
    const { url, sourceId, accessKey, signingSecret } = this.#access;
    const ingest = { baseUrl: url, accessKey };
    if (!Buffer.isBuffer(body)) {
      const payload = body as Readonly<Record<string, string>>;
      return push(ingest, { idempotencyKey: key, shapeVersion: 1, payload });
    }
    const bytes = bytesBody(body);
    if (signingSecret === null) return pushDocument(ingest, { idempotencyKey: key, body: bytes });
    const address = { url: `${url}/v1/webhooks/${sourceId}`, signingSecret };
    return sendWebhook(address, { deliveryId: key, mediaType: 'application/json', body: bytes });
  }

  /** Waits until a delivery is parsed or rejected; asks less and less often, for rates count. */
  async settled(artifactId: string): Promise<DeliveryView> {
    for (let waitMs = settledWait.firstMs; ; waitMs = Math.min(2 * waitMs, settledWait.maxMs)) {
      const view = await this.#get<DeliveryView>(`/v1/deliveries/${artifactId}`);
      if (view.status === 'parsed' || view.status === 'rejected') return view;
      await sleep(waitMs);
    }
  }

  samples(from: string, to: string): Promise<ReadAnswer> {
    return this.#get<ReadAnswer>(`/v1/samples?from=${from}&to=${to}`);
  }

  /** Asks again what the service asks to be asked again (specification, "Errors"). */
  async #get<T>(path: string): Promise<T> {
    const { url, accessKey } = this.#access;
    for (;;) {
      const answer = await fetch(`${url}${path}`, {
        headers: { Authorization: `Bearer ${accessKey}` },
      });
      if (answer.ok) return (await answer.json()) as T;
      if (answer.status !== 429 && answer.status < 500) {
        throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      }
      await sleep(1_000 * Math.max(1, Number(answer.headers.get('Retry-After'))));
    }
  }
}
