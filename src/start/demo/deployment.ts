import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DeliveryHead, type KeepParts, keepBody } from '../../accept/keep.ts';
import { Segments } from '../../accept/segments.ts';
import type { Catalog } from '../../catalog/catalog.ts';
import { demoKey } from '../../domain/keys.ts';
import type { Clock } from '../../std/clock.ts';
import { type FixtureDelivery, fixtureFields, fixtureMetrics, fixtures } from './fixtures.ts';

/**
 * A demo deployment (specification, "Interactive reference site and demo key"; DECISIONS 9): one
 * company with one source, whose fixture samples the published demo key reads.
 *
 * All ids are fixed, so that every start, and every process that starts at the same time, finds
 * what another one made. When the source was made decides the fixtures' dates for good.
 */
export const demoCompanyId = '6b0f3f0e-5d0a-7c57-9d5e-64656d6f0001';
const sourceId = '6b0f3f0e-5d0a-7c57-9d5e-64656d6f0002';
const keyId = '6b0f3f0e-5d0a-7c57-9d5e-64656d6f0003';

/** It is published for as long as the deployment stands, and opens nothing that is not public. */
const keyLifetimeMs = 100 * 365 * 86_400_000;
const settleWait = { firstMs: 50, maxMs: 1_000, giveUpMs: 30_000 };

export interface DemoParts extends Omit<KeepParts, 'segments'> {
  readonly catalog: Catalog;
  readonly clock: Clock;
  readonly log: KeepParts['log'] & { info(fields: object, message: string): void };
}

/** Makes what is missing of the demo, and waits until its samples can be read. */
export async function ensureDemo(parts: DemoParts): Promise<void> {
  const madeAt = await ensureSource(parts);
  const { deliveries } = fixtures(madeAt);
  for (const delivery of deliveries) await ensureDelivery(parts, delivery);
  for (const delivery of deliveries) await settled(parts, delivery);
  const address = `GET /v1/samples with the key ${demoKey}`;
  parts.log.info({ demoKey, sourceId }, `this is a demo deployment, it reads only: ${address}`);
}

/** @returns when the source was made */
async function ensureSource({ catalog, clock }: DemoParts): Promise<number> {
  const { directory, lookup } = catalog;
  const now = clock();
  const companyId = demoCompanyId;
  await ensure(
    () => directory.company(companyId),
    () => directory.createCompany({ companyId, name: 'Demo', timezone: 'UTC' }, now),
  );
  const known = new Set((await directory.metrics(companyId)).map(({ key }) => key));
  for (const metric of fixtureMetrics()) {
    if (!known.has(metric.key)) await directory.declareMetric(companyId, metric, now);
  }
  const made = { savedBy: 'demo deployment', fields: fixtureFields } as const;
  const way = { delivery: 'document', format: 'csv' } as const;
  const name = fixtures(now).title;
  await ensure(
    () => directory.source(sourceId),
    () => directory.createSource({ sourceId, companyId, name, ...way, ...made }, now),
  );
  const hash = createHash('sha256').update(demoKey).digest();
  const rights = { scope: 'read', sandbox: false, demo: true } as const;
  await ensure(
    () => directory.key(keyId),
    () =>
      directory.createKey(
        { keyId, sourceId, hash, ...rights, expiresAt: now + keyLifetimeMs },
        now,
      ),
  );
  const shape = await lookup.shape(sourceId, 1);
  if (!shape) throw new Error('the demo source has no shape version');
  return shape.savedAt;
}

/** Makes a thing unless it is there; another process may be first in between. */
async function ensure(find: () => Promise<unknown>, make: () => Promise<unknown>): Promise<void> {
  if (await find()) return;
  try {
    await make();
  } catch (error) {
    if (!(await find())) throw error;
  }
}

/** Stores a fixture as any document is stored, unless its idempotency key is known. */
async function ensureDelivery(parts: DemoParts, delivery: FixtureDelivery): Promise<void> {
  const { body } = delivery;
  const probe = probeOf(delivery);
  if (await parts.catalog.lookup.keyIsKnown(probe)) return;
  const head: DeliveryHead = {
    ...{ sourceId, sandbox: false, idempotencyKey: delivery.idempotencyKey },
    ...{ shapeVersion: 1, delivery: 'document', encoding: 'identity' },
    ...{ mediaType: 'application/octet-stream', receivedAt: parts.clock() },
  };
  await keepBody({ ...parts, segments: new Segments(parts) }, head, {
    body,
    bytes: body.length,
    sha256: probe.sha256,
  });
}

/**
 * Waits until a fixture is parsed. A store that is away is waited for once: what is left is parsed
 * while the service already answers.
 */
async function settled(parts: DemoParts, delivery: FixtureDelivery): Promise<void> {
  const { lookup, deliveries } = parts.catalog;
  const { idempotencyKey } = delivery;
  const known = await lookup.known(probeOf(delivery));
  const end = Date.now() + settleWait.giveUpMs;
  let waitMs = settleWait.firstMs;
  for (;;) {
    const found = known && (await deliveries.byArtifact(known.receipt.artifactId));
    if (!found) throw new Error(`the demo's delivery ${idempotencyKey} is gone`);
    if (found.status === 'parsed') return;
    if (found.status === 'rejected' || Date.now() > end) {
      const { status } = found;
      parts.log.warn({ idempotencyKey, status }, 'a fixture of the demo cannot be read yet');
      return;
    }
    await sleep(waitMs);
    waitMs = Math.min(2 * waitMs, settleWait.maxMs);
  }
}

function probeOf({ idempotencyKey, body }: FixtureDelivery) {
  const sha256 = createHash('sha256').update(body).digest();
  return { sourceId, sandbox: false, idempotencyKey, sha256 };
}
