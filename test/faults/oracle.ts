import { createHash } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { expect } from 'vitest';
import { openArtifacts } from '../../src/artifacts/open.ts';
import type { Delivery } from '../../src/domain/nouns.ts';
import { connect } from '../../src/samples/client.ts';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import { accountingDifference, type Scraped } from '../support/metrics-of.ts';
import type { SentTo } from './place.ts';
import { dayText, type Sent, type SentRow } from './sender.ts';

/**
 * Compares a running weir with what its senders know: every receipt has its bytes, every key one
 * delivery, every row is there once and the latest accepted one is read.
 *
 * @param sent every delivery that was ever sent, each with different bytes and a receipt
 * @param artifactsUrl where the service stores bodies, when not in its data directory
 * @returns how many stored objects no delivery refers to
 */
export async function expectNothingLost(
  place: SentTo,
  weir: Scraped & { readonly url: string },
  sent: readonly Sent[],
  artifactsUrl = pathToFileURL(`${place.dataDir}/artifacts`).href,
): Promise<number> {
  await emptyBacklog(place);
  for (const kind of ['push', 'document'] as const) {
    const own = sent.filter((one) => one.kind === kind);
    const accepted = await expectDeliveries(place, kind, own, artifactsUrl);
    await expectSamples(place, weir, kind, accepted);
  }
  expect(await accountingDifference(weir)).toBe(0);
  return countOrphans(place, artifactsUrl);
}

async function emptyBacklog(place: SentTo): Promise<void> {
  for (const end = Date.now() + 60_000; ; await sleep(50)) {
    const backlog = await place.catalog.queue.backlog();
    if (backlog.deliveries === 0) return;
    if (Date.now() > end) throw new Error(`${backlog.deliveries} deliveries are not parsed`);
  }
}

/** @returns the deliveries in accepted order */
async function expectDeliveries(
  place: SentTo,
  kind: Sent['kind'],
  sent: readonly Sent[],
  artifactsUrl: string,
): Promise<Sent[]> {
  const { deliveries } = place.catalog;
  const listed = await deliveries.list(place[kind].sourceId, { limit: 100_000 });
  const byId = new Map(listed.map((one) => [one.artifactId, one]));
  const found: { sent: Sent; delivery: Delivery }[] = [];
  for (const one of sent) {
    expect(one.receipts.length, `receipts of ${one.key}`).toBeGreaterThan(0);
    expect([...new Set(one.receipts)], `receipts of ${one.key}`).toEqual([one.receipts[0]]);
    const { artifact_id } = JSON.parse(one.receipts[0]!) as { artifact_id: string };
    const delivery = byId.get(artifact_id);
    if (!delivery) throw new Error(`the receipt of ${one.key} names no delivery`);
    expect(await deliveries.idempotencyKeys(artifact_id)).toEqual([one.key]);
    const sha256 = createHash('sha256').update(one.body).digest('hex');
    const { length } = one.rows;
    expect(delivery).toMatchObject({
      ...{ status: 'parsed', refusal: null, sha256, bytes: one.body.length },
      counts: { records: length, parsed: length, samples: length, rejected: 0 },
    });
    found.push({ sent: one, delivery });
  }
  expect(listed.length, `${kind} deliveries`).toBe(sent.length);
  await expectBytes(artifactsUrl, found);
  found.sort((a, b) => a.delivery.sequence - b.delivery.sequence);
  return found.map((one) => one.sent);
}

async function expectBytes(
  artifactsUrl: string,
  found: readonly { sent: Sent; delivery: Delivery }[],
): Promise<void> {
  const artifacts = openArtifacts(artifactsUrl);
  try {
    for (const { sent, delivery } of found) {
      const stored = await buffer(await artifacts.read(delivery.place));
      expect(stored.equals(sent.body), `the bytes of ${sent.key}`).toBe(true);
    }
  } finally {
    await artifacts.close();
  }
}

interface ReadSample {
  readonly period_start: string;
  readonly metric: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  readonly artifact_id: string;
}

async function expectSamples(
  place: SentTo,
  weir: Scraped & { readonly url: string },
  kind: Sent['kind'],
  accepted: readonly Sent[],
): Promise<void> {
  const { accessKey, sourceId } = place[kind];
  const answer = await fetch(`${weir.url}/v1/samples?from=${dayText(0)}&to=${dayText(730)}`, {
    headers: { Authorization: `Bearer ${accessKey}` },
  });
  const text = await answer.text();
  expect(answer.status, text).toBe(200);
  const read = JSON.parse(text) as { truncated: boolean; samples: ReadSample[] };
  expect(read.truncated).toBe(false);
  const shown = read.samples.map((one) => [one.period_start, one.metric, one.labels, one.value]);
  const model = modelOf(accepted);
  expect(shown).toEqual(model.map((one) => [one.period, one.metric, one.labels, one.value]));
  const artifacts = model.map((one) => JSON.parse(one.from.receipts[0]!).artifact_id);
  expect(read.samples.map((one) => one.artifact_id)).toEqual(artifacts);
  const rows = await storedRows(place, sourceId);
  const sentRows = accepted.reduce((sum, one) => sum + one.rows.length, 0);
  expect(rows).toEqual({ sample_versions: sentRows, samples: model.length });
}

/** The later accepted delivery wins, inside a delivery the later record; newest first. */
function modelOf(accepted: readonly Sent[]): (SentRow & { from: Sent })[] {
  const live = new Map<string, SentRow & { from: Sent }>();
  for (const from of accepted) {
    for (const row of from.rows) {
      live.set(JSON.stringify([row.metric, row.period, row.labels]), { ...row, from });
    }
  }
  const order = (row: SentRow) => JSON.stringify([row.metric, row.labels]);
  return [...live.values()].sort((a, b) => {
    if (a.period !== b.period) return a.period < b.period ? 1 : -1;
    return order(a) < order(b) ? -1 : 1;
  });
}

/** Rows that the engine keeps for a source, equal versions taken as one. */
async function storedRows(place: SentTo, sourceId: string): Promise<Record<string, number>> {
  const address = openEngineAddress(place.dataDir);
  const client = connect(address, address.database);
  try {
    const counts: Record<string, number> = {};
    for (const table of ['sample_versions', 'samples']) {
      const answer = await client.query({
        query: `SELECT toUInt32(count()) AS n FROM ${table} FINAL WHERE source_id = {source:UUID}`,
        query_params: { source: sourceId },
        format: 'JSONEachRow',
      });
      counts[table] = (await answer.json<{ n: number }>())[0]!.n;
    }
    return counts;
  } finally {
    await client.close();
  }
}

async function countOrphans(place: SentTo, artifactsUrl: string): Promise<number> {
  const artifacts = openArtifacts(artifactsUrl);
  try {
    const objects: string[] = [];
    for await (const { object } of artifacts.list()) objects.push(object);
    const referenced = await place.catalog.deliveries.referenced(objects);
    return objects.filter((object) => !referenced.has(object)).length;
  } finally {
    await artifacts.close();
  }
}
