import type { KeyHolder, Lookup, SignedSource } from '../../src/catalog/catalog.ts';
import { type Call, serveCall, type Writes } from '../../src/catalog/writes.ts';
import type { Company, Metric, ShapeVersion } from '../../src/domain/nouns.ts';
import type { CatalogBed, StoredDelivery } from './catalog-bed.ts';
import { accessKeys, metrics, type SourceName, sourceNameOf, sources } from './fixtures.ts';
import { allSources, memoryQueue, memoryReparses, type QueueState } from './memory-queue.ts';
import { MemoryRows } from './memory-rows.ts';

/** What is declared: the same in every run. */
export interface Declared {
  readonly company: Company;
  readonly metrics: readonly Metric[];
  readonly keys: ReadonlyMap<string, KeyHolder>;
  readonly webhook: SignedSource;
  shape(sourceId: string, version: number): ShapeVersion;
}

/** Reads what the real catalog has of the declarations. */
export async function readDeclared(lookup: Lookup): Promise<Declared> {
  const keys = new Map<string, KeyHolder>();
  for (const { hash } of accessKeys()) keys.set(hash.toString('hex'), (await lookup.key(hash))!);
  const shapes = new Map<string, ShapeVersion>();
  for (const { sourceId } of Object.values(sources)) {
    for (const version of [1, 2]) {
      shapes.set(`${sourceId} ${version}`, (await lookup.shape(sourceId, version))!);
    }
  }
  const webhook = (await lookup.signedSource(sources.webhook.sourceId, 0))!;
  const shape = (sourceId: string, version: number) => shapes.get(`${sourceId} ${version}`)!;
  return { company: webhook.company, metrics, keys, webhook, shape };
}

/**
 * A catalog in memory, several times as fast as SQLite. That it behaves as the real one does is
 * tested: a seed gives the same run on both, to the last line of its trace.
 */
export class MemoryBed implements CatalogBed {
  readonly #declared: Declared;
  #state: QueueState;
  #writes: Writes;

  constructor(declared: Declared) {
    this.#declared = declared;
    this.#state = freshState(declared);
    this.#writes = writesOn(this.#state);
  }

  reset(): void {
    this.#state = freshState(this.#declared);
    this.#writes = writesOn(this.#state);
  }

  call(call: Call): Promise<unknown> {
    return serveCall(this.#writes, call);
  }

  lookup(): Lookup {
    const { rows, versions, turns, declared } = this.#state;
    return {
      async key(hash) {
        const holder = declared.keys.get(hash.toString('hex'));
        if (!holder) return null;
        const { sourceId } = holder.source;
        const version = (versions.get(sourceId) ?? 0) + (versions.get(allSources) ?? 0);
        const ends = [...turns.values()]
          .filter((turn) => turn.sourceId === sourceId || turn.sourceId === allSources)
          .map((turn) => turn.until);
        const turnEndsAt = ends.length === 0 ? null : Math.min(...ends);
        return { ...holder, samples: { version, turnEndsAt } };
      },
      shape: async (sourceId, version) => declared.shape(sourceId, version) ?? null,
      signedSource: async (sourceId) =>
        sourceId === declared.webhook.source.sourceId ? declared.webhook : null,
      keyIsKnown: async (name) => rows.named(name) !== undefined,
      known: async (probe) => rows.known({ ...probe, sha256: probe.sha256.toString('hex') }),
    };
  }

  async standing() {
    const { all } = this.#state.rows;
    const receivedAt = all.length === 0 ? null : Math.max(...all.map((r) => r.claim.receivedAt));
    return { catalogId: 'c', sequence: all.length, receivedAt };
  }

  waiting(): number {
    return this.#state.rows.all.filter((row) => !row.isSettled).length;
  }

  deliveries(): StoredDelivery[] {
    return this.#state.rows.all.map(({ claim, ...row }) => ({
      artifactId: claim.artifactId,
      source: sourceNameOf(claim.sourceId) as SourceName,
      ...{ sandbox: claim.sandbox, sequence: row.sequence, sha256: claim.sha256 },
      ...{ status: row.status, version: row.version as 1 | 2, generation: row.generation },
      ...claim.place,
      records: row.counts?.records ?? null,
      parsed: row.counts?.parsed ?? null,
      rejected: row.counts?.rejected ?? null,
      samples: row.counts?.samples ?? null,
      supersededWithin: row.counts?.supersededWithin ?? null,
      keys: [...row.keys].sort(),
      conflicts: row.conflicts,
    }));
  }

  async close(): Promise<void> {}
}

function freshState(declared: Declared): QueueState {
  return {
    ...{ rows: new MemoryRows(), declared, versions: new Map(), turns: new Map() },
    ...{ reparsedUpTo: new Map(), counter: 0, tokens: 0 },
  };
}

function writesOn(state: QueueState): Writes {
  const { rows } = state;
  const ledger: Writes['ledger'] = {
    commit: async (entries) =>
      entries.map((entry) =>
        entry.kind === 'record'
          ? { kind: 'record', verdict: rows.record(entry.claim) }
          : { kind: 'replay', known: rows.replay(entry.probe) },
      ),
  };
  const served = { ledger, queue: memoryQueue(state), reparses: memoryReparses(state) };
  return served as Partial<Writes> as Writes;
}
