import type { Upload } from '../artifacts/artifacts.ts';
import type { ParseOutcome } from '../parse/messages.ts';
import type { BodyKeeper, Parser, Tracing } from './tracing.ts';

/** Takes the steps of deliveries as they end. Cheap, and never throws. */
export interface StepTaker {
  step(step: Step): void;
}

export interface Step {
  readonly name: 'keep' | 'commit' | 'parse' | 'insert';
  readonly artifactId: string;
  /** By `performance.now()`; it ends now. */
  readonly began: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** A word for what failed; null: nothing did. */
  readonly failure: string | null;
}

/** Wrappers that keep a contract and tell of the steps that went through it. */
export function tracedSteps(taker: StepTaker): Omit<Tracing, 'answered' | 'close'> {
  return {
    uploads: (artifacts) => tracedUploads(taker, artifacts),
    keeper: (keeper) => tracedKeeper(taker, keeper),
    ledger: (ledger) => ({
      replay: (probe, now) => ledger.replay(probe, now),
      record: (claim) => {
        const { artifactId, delivery, bytes } = claim;
        const about = { 'weir.way': delivery, 'weir.bytes': bytes };
        return timed(taker, { name: 'commit', artifactId }, ledger.record(claim), (verdict) => ({
          ...about,
          'weir.outcome': verdict.outcome,
        }));
      },
    }),
    pool: (pool) => tracedPool(taker, pool),
    rows: (rows) => ({
      room: () => rows.room(),
      add: (encoded, rowCount, job) => {
        const { artifactId, generation } = job;
        const about = { 'weir.rows': rowCount, 'weir.generation': generation };
        const added = rows.add(encoded, rowCount, job);
        return timed(taker, { name: 'insert', artifactId }, added, () => about);
      },
    }),
  };
}

/** A segment's upload is nobody's alone, and no step: `keep` of each of its bodies is. */
function tracedUploads<A extends { begin: ArtifactBegin }>(taker: StepTaker, artifacts: A): A {
  const begin: ArtifactBegin = (object, length, meta) => {
    const upload = artifacts.begin(object, length, meta);
    if (meta === null) return upload;
    return tellingUpload(taker, upload, { artifactId: meta.artifactId, length });
  };
  // A proxy, not a copy: a store's methods live on its class.
  return new Proxy(artifacts, {
    get(target, name) {
      if (name === 'begin') return begin;
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

type ArtifactBegin = Parameters<Tracing['uploads']>[0]['begin'];

/** One that was given up is no step: its bytes were known, or its sender went away. */
function tellingUpload(
  taker: StepTaker,
  upload: Upload,
  { artifactId, length }: { readonly artifactId: string; readonly length: number },
): Upload {
  const began = performance.now();
  let over = false;
  const end = (failure: string | null) => {
    if (over) return;
    over = true;
    const attributes = { 'weir.bytes': length };
    taker.step({ name: 'keep', artifactId, began, attributes, failure });
  };
  const failed = (error: unknown) => {
    end(failureWord(error));
    throw error;
  };
  return {
    write: (bytes) => upload.write(bytes).catch(failed),
    commit: (sha256) => upload.commit(sha256).then(() => end(null), failed),
    abort() {
      over = true;
      return upload.abort();
    },
  };
}

function tracedKeeper<K>(taker: StepTaker, keeper: BodyKeeper<K>): BodyKeeper<K> {
  return {
    keep: (body) => {
      const what = { name: 'keep', artifactId: body.meta.artifactId } as const;
      return timed(taker, what, keeper.keep(body), () => ({ 'weir.bytes': body.body.length }));
    },
  };
}

/** Deliveries of one task have one time: that of the task. */
function tracedPool<P extends Parser>(taker: StepTaker, pool: P): P {
  return {
    ...pool,
    async run(task, ...more) {
      const began = performance.now();
      const tell = (failureOf: (i: number) => string | null, outcomes: readonly ParseOutcome[]) => {
        for (const [i, { artifactId, generation }] of task.deliveries.entries()) {
          const about = {
            'weir.generation': generation,
            'weir.task_deliveries': task.deliveries.length,
          };
          const attributes = { ...about, ...outcomeAttributes(outcomes[i]) };
          taker.step({ name: 'parse', artifactId, began, attributes, failure: failureOf(i) });
        }
      };
      try {
        const answer = await pool.run(task, ...more);
        const { outcomes } = answer;
        tell((i) => (outcomes[i]!.kind === 'done' ? null : outcomes[i]!.kind), outcomes);
        return answer;
      } catch (error) {
        tell(() => failureWord(error), []);
        throw error;
      }
    },
  };
}

function outcomeAttributes(outcome: ParseOutcome | undefined): Step['attributes'] {
  if (outcome?.kind !== 'done') return {};
  const { status, counts } = outcome;
  return {
    'weir.outcome': status,
    'weir.records_parsed': counts.parsed,
    'weir.records_rejected': counts.rejected,
    'weir.samples': counts.samples,
  };
}

/** Passes on what a promise gives, and tells of it. */
async function timed<T>(
  taker: StepTaker,
  what: Pick<Step, 'name' | 'artifactId'>,
  work: Promise<T>,
  attributesOf: (value: T) => Step['attributes'],
): Promise<T> {
  const began = performance.now();
  try {
    const value = await work;
    taker.step({ ...what, began, attributes: attributesOf(value), failure: null });
    return value;
  } catch (error) {
    taker.step({ ...what, began, attributes: {}, failure: failureWord(error) });
    throw error;
  }
}

/** Of an error its code, which is weir's or the system's own word; never its message. */
function failureWord(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  return 'code' in error && typeof error.code === 'string' ? error.code : error.name;
}
