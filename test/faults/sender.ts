import { setTimeout as sleep } from 'node:timers/promises';
import type { SentTo } from './place.ts';

/** A sample that a delivery holds. */
export interface SentRow {
  readonly metric: string;
  readonly period: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** One delivery as its sender knows it, with every receipt that it ever got. */
export interface Sent {
  readonly kind: 'push' | 'document';
  readonly key: string;
  readonly body: Buffer;
  readonly rows: readonly SentRow[];
  /** Bodies of its 202s, as they came. */
  readonly receipts: string[];
}

export function pushOf(key: string, period: string, value: string): Sent {
  const payload = { day: period, revenue: value };
  const body = JSON.stringify({ idempotency_key: key, shape_version: 1, payload });
  const rows = [{ metric: 'revenue', period, labels: {}, value }];
  return { kind: 'push', key, body: Buffer.from(body), rows, receipts: [] };
}

export function documentOf(
  key: string,
  lines: readonly { period: string; page: string; value: string }[],
): Sent {
  const text = lines.map(({ period, page, value }) => `${period},${page},${value}\n`).join('');
  const rows = lines.map(({ period, page, value }) => ({
    ...{ metric: 'visits', period, value },
    labels: { page },
  }));
  const body = Buffer.from(`day,page,visits\n${text}`);
  return { kind: 'document', key, body, rows, receipts: [] };
}

/** The day so many days after 2026-01-01. */
export function dayText(day: number): string {
  return new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10);
}

/**
 * Sends once. A 202's receipt is kept.
 *
 * @returns the answer; null when the connection broke before one came
 */
export async function sendOnce(
  place: Pick<SentTo, 'push' | 'document'>,
  url: string,
  sent: Sent,
  signal?: AbortSignal,
): Promise<{ status: number; headers: Headers; text: string } | null> {
  const source = sent.kind === 'push' ? place.push : place.document;
  const type = sent.kind === 'push' ? 'application/json' : 'application/octet-stream';
  const headers: Record<string, string> = {
    Authorization: `Bearer ${source.accessKey}`,
    'Content-Type': type,
  };
  if (sent.kind === 'document') headers['Idempotency-Key'] = sent.key;
  try {
    const answer = await fetch(`${url}/v1/ingest`, {
      ...{ method: 'POST', headers, body: new Uint8Array(sent.body) },
      ...(signal ? { signal } : {}),
    });
    const text = await answer.text();
    if (answer.status === 202) sent.receipts.push(text);
    return { status: answer.status, headers: answer.headers, text };
  } catch {
    return null;
  }
}

/**
 * Sends until there is a receipt, as the specification asks of senders: 5xx and broken
 * connections are tried again, with the same key.
 *
 * @throws Error on any other answer, or without a receipt after a minute
 */
export async function sendUntilKept(
  place: Pick<SentTo, 'push' | 'document'>,
  url: string,
  sent: Sent,
): Promise<void> {
  let last = 'no answer';
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
    const answer = await sendOnce(place, url, sent, AbortSignal.timeout(30_000));
    if (answer?.status === 202) return;
    if (answer) last = `${answer.status} ${answer.text}`;
    if (answer && answer.status < 500) throw new Error(last);
  }
  throw new Error(`no receipt for ${sent.key} within a minute: ${last}`);
}
