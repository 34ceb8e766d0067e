import { setTimeout as sleep } from 'node:timers/promises';
import type { DeliveryView } from '../../src/serve/deliveries.ts';
import { type Answer, ask, jsonOf, type Question } from './ask.ts';

/** The specification's Receipt. */
export interface Receipt {
  readonly artifact_id: string;
  readonly shape_version: number;
  readonly status: string;
  readonly sandbox: boolean;
}

/** The specification's Sample. */
export interface Sample {
  readonly metric: string;
  readonly period_start: string;
  readonly value: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
  readonly artifact_id: string;
}

/** The specification's Samples. */
export interface Samples {
  readonly source_id: string;
  readonly window: {
    readonly from: string;
    readonly to: string;
    readonly max_days: number;
    readonly narrowed: boolean;
  };
  readonly samples: readonly Sample[];
  readonly truncated: boolean;
}

type Headers = Question['headers'];

let lastKey = 0;

/** An idempotency key that no test has used. */
export function freshKey(): string {
  lastKey += 1;
  return `test-key-${process.pid}-${lastKey}`;
}

/** Speaks to a weir with one key of one source, and says what came back without judging it. */
export class Sender {
  readonly url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.url = url;
    this.key = key;
  }

  /** POST /v1/ingest with the bytes and headers given, and this key. */
  ingest(body: Uint8Array | string, headers: Headers = {}, chunked = false): Promise<Answer> {
    const all = { Authorization: `Bearer ${this.key}`, ...headers };
    return ask(`${this.url}/v1/ingest`, { method: 'POST', headers: all, body, chunked });
  }

  /** A JSON body as given. */
  pushText(body: Uint8Array | string, chunked = false): Promise<Answer> {
    return this.ingest(body, { 'Content-Type': 'application/json' }, chunked);
  }

  push(payload: unknown, key = freshKey(), shapeVersion: unknown = 1): Promise<Answer> {
    const envelope = { idempotency_key: key, shape_version: shapeVersion, payload };
    return this.pushText(JSON.stringify(envelope));
  }

  document(
    body: Uint8Array | string,
    key = freshKey(),
    headers: Headers = {},
    chunked = false,
  ): Promise<Answer> {
    const own = { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key };
    return this.ingest(body, { ...own, ...headers }, chunked);
  }

  get(path: string, headers: Headers = {}): Promise<Answer> {
    return ask(`${this.url}${path}`, {
      headers: { Authorization: `Bearer ${this.key}`, ...headers },
    });
  }

  /** The samples of a window, `query` as it stands in the address. */
  async samples(query = ''): Promise<Samples> {
    const answer = await this.get(`/v1/samples${query && `?${query}`}`);
    if (answer.status !== 200) throw new Error(`samples: ${answer.status} ${answer.text}`);
    return jsonOf<Samples>(answer);
  }

  /** Waits until a delivery is parsed or rejected. @param receipt the answer that accepted it */
  async settled(receipt: Answer, waitMs = 20_000): Promise<DeliveryView> {
    const { artifact_id } = accepted(receipt);
    const end = Date.now() + waitMs;
    for (;;) {
      const answer = await this.get(`/v1/deliveries/${artifact_id}`);
      if (answer.status !== 200) throw new Error(`delivery: ${answer.status} ${answer.text}`);
      const view = jsonOf<DeliveryView>(answer);
      if (view.status === 'parsed' || view.status === 'rejected') return view;
      if (Date.now() > end) throw new Error(`${artifact_id} is still ${view.status}`);
      await sleep(15);
    }
  }
}

/** @returns the receipt @throws Error when the answer is none */
export function accepted(answer: Answer): Receipt {
  if (answer.status !== 202) throw new Error(`not accepted: ${answer.status} ${answer.text}`);
  return jsonOf<Receipt>(answer);
}
