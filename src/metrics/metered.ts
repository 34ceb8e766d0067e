import type { ArtifactStore, Upload } from '../artifacts/artifacts.ts';
import type { KnownDelivery, Ledger } from '../catalog/catalog.ts';
import { accountingDifference } from '../domain/accounting.ts';
import type { ParseAnswer, ParseTask } from '../parse/messages.ts';
import type { SampleStore } from '../samples/samples.ts';
import type { Metrics } from './metrics.ts';

/** Wrappers that keep a contract and tell what went through it. */

export function meteredLedger(ledger: Ledger, metrics: Metrics): Ledger {
  const again = (known: KnownDelivery) => {
    metrics.replayed(known.by);
    if (known.bodyDiffers) metrics.conflict();
  };
  return {
    async record(claim) {
      const verdict = await ledger.record(claim);
      if (verdict.outcome === 'stored') metrics.stored(claim.delivery, claim.bytes);
      else again(verdict.known);
      return verdict;
    },
    async replay(probe, now) {
      const known = await ledger.replay(probe, now);
      if (known) again(known);
      return known;
    },
  };
}

/** Counts uploads that failed; one that its caller gave up is none. */
export function meteredUploads(artifacts: ArtifactStore, metrics: Metrics): ArtifactStore {
  const begin: ArtifactStore['begin'] = (object, length, meta) =>
    meteredUpload(artifacts.begin(object, length, meta), metrics);
  // A proxy, not a copy: a store's methods live on its class.
  return new Proxy(artifacts, {
    get(target, name) {
      if (name === 'begin') return begin;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

function meteredUpload(upload: Upload, metrics: Metrics): Upload {
  let over = false;
  const failed = (error: unknown) => {
    if (!over) metrics.uploadFailed();
    over = true;
    throw error;
  };
  return {
    write: (bytes) => upload.write(bytes).catch(failed),
    commit: (sha256) => upload.commit(sha256).catch(failed),
    abort() {
      over = true;
      return upload.abort();
    },
  };
}

export function meteredInserts<S extends Pick<SampleStore, 'insert'>>(
  store: S,
  metrics: Metrics,
): Pick<SampleStore, 'insert'> {
  return {
    async insert(rows) {
      const began = performance.now();
      await store.insert(rows);
      const blocks = [...rows.samples, ...(rows.reparsed ?? []), ...rows.rejections];
      const bytes = blocks.reduce((sum, block) => sum + block.length, 0);
      metrics.inserted(bytes, secondsSince(began));
    },
  };
}

interface Pool {
  run(task: ParseTask, ...more: never[]): Promise<ParseAnswer>;
}

/** Counts what was parsed, and checks the accounting of each delivery (DECISIONS 2). */
export function meteredPool<P extends Pool>(
  pool: P,
  metrics: Metrics,
  log: { error(fields: object, message: string): void },
): P {
  return {
    ...pool,
    async run(task: ParseTask, ...more: never[]) {
      const began = performance.now();
      const answer = await pool.run(task, ...more);
      const done = answer.outcomes.filter((outcome) => outcome.kind === 'done');
      const unreadable = answer.outcomes.filter(({ kind }) => kind === 'unreadable');
      for (const _ of unreadable) metrics.storeFailed('artifacts');
      metrics.parsed(done, secondsSince(began));
      for (const [i, outcome] of answer.outcomes.entries()) {
        if (outcome.kind !== 'done') continue;
        const { counts, valuesSeen } = outcome;
        if (accountingDifference(counts, valuesSeen) === 0) continue;
        const { artifactId } = task.deliveries[i]!;
        log.error({ artifactId, counts, valuesSeen }, 'the accounting of a delivery is wrong');
      }
      return answer;
    },
  };
}

function secondsSince(began: number): number {
  return (performance.now() - began) / 1_000;
}
