import { setTimeout as sleep } from 'node:timers/promises';
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

/** Speaks to one source with one key, as a customer's system does. */
export class SourceClient {
  readonly #url: string;
  readonly #key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.#key = key;
  }

  /** @returns the artifact id out of the receipt */
  async send(delivery: SeriesDelivery): Promise<string> {
    const answer = await this.#request('/v1/ingest', {
      method: 'POST',
      ...(Buffer.isBuffer(delivery.body)
        ? document(delivery.key, delivery.body)
        : push(delivery.key, delivery.body as Record<string, string>)),
    });
    const { artifact_id } = (await answer.json()) as { artifact_id: string };
    return artifact_id;
  }

  /** Waits until a delivery is parsed or rejected. */
  async settled(artifactId: string): Promise<DeliveryView> {
    for (let waitMs = 20; ; waitMs = Math.min(2 * waitMs, 1_000)) {
      const answer = await this.#request(`/v1/deliveries/${artifactId}`);
      const view = (await answer.json()) as DeliveryView;
      if (view.status === 'parsed' || view.status === 'rejected') return view;
      await sleep(waitMs);
    }
  }

  async samples(from: string, to: string): Promise<ReadAnswer> {
    const answer = await this.#request(`/v1/samples?from=${from}&to=${to}`);
    return (await answer.json()) as ReadAnswer;
  }

  /** Sends again what the service asks to be sent again (specification, "Errors"). */
  async #request(path: string, init: RequestInit = {}): Promise<Response> {
    for (;;) {
      const headers = { ...init.headers, Authorization: `Bearer ${this.#key}` };
      const answer = await fetch(`${this.#url}${path}`, { ...init, headers });
      if (answer.ok) return answer;
      const retryAfter = Number(answer.headers.get('Retry-After'));
      if (answer.status !== 429 && answer.status < 500) {
        throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
      }
      await sleep(1_000 * Math.max(1, retryAfter));
    }
  }
}

function document(key: string, body: Buffer): RequestInit {
  const headers = { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key };
  return { headers, body: new Uint8Array(body) };
}

function push(key: string, payload: Record<string, string>): RequestInit {
  const envelope = { idempotency_key: key, shape_version: 1, payload };
  return { headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(envelope) };
}
