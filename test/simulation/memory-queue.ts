import type { Completed, Job, Lease, Outcome, Queue, Reparses } from '../../src/catalog/catalog.ts';
import { limits } from '../../src/domain/limits.ts';
import type { Delivery } from '../../src/domain/nouns.ts';
import type { Declared } from './memory-bed.ts';
import type { MemoryRows, Row } from './memory-rows.ts';

/** In place of a source's id: all of them. */
export const allSources = 'all';

/** What the queue shares with the rest of the catalog. */
export interface QueueState {
  readonly rows: MemoryRows;
  readonly declared: Declared;
  /** Of the samples of a source. */
  readonly versions: Map<string, number>;
  readonly turns: Map<string, { readonly sourceId: string; until: number }>;
  /** By source: the highest sequence that was ever parsed again. */
  readonly reparsedUpTo: Map<string, number>;
  counter: number;
  tokens: number;
}

function freshNumber(state: QueueState, now: number): number {
  state.counter = Math.max(Math.floor(now / 1_000), state.counter + 1);
  return state.counter;
}

function raise(state: QueueState, sources: Iterable<string>, now: number): void {
  for (const source of new Set(sources)) {
    const version = state.versions.get(source);
    const next = version === undefined ? Math.max(now, 1) : Math.max(now, version + 1);
    state.versions.set(source, next);
  }
}

/** The contract of `Queue` over rows in memory. */
export function memoryQueue(state: QueueState): Queue {
  const { rows } = state;
  const held = ({ artifactId, token }: Lease) => {
    const row = rows.byArtifact.get(artifactId);
    return row?.token === token ? row : undefined;
  };
  const outdatedBy = ({ artifactId, generation }: Pick<Outcome, 'artifactId' | 'generation'>) => {
    const standing = rows.byArtifact.get(artifactId)?.generation ?? 0;
    return generation === 0 && standing > 0 ? [{ artifactId, generation: standing }] : [];
  };
  return {
    claim: async (want) => claim(state, want),
    async extend(leases, until) {
      for (const lease of leases) {
        const row = held(lease);
        if (row) row.dueAt = until;
      }
    },
    async complete(outcomes, now) {
      const done = { took: [] as string[], unsettled: [] as string[] };
      const outdated: Completed['outdated'][number][] = [];
      for (const outcome of outcomes) {
        const row = held(outcome);
        if (!row) outdated.push(...outdatedBy(outcome));
        else if (outcome.generation !== (row.next?.generation ?? row.generation)) {
          Object.assign(row, { status: 'queued', token: null, dueAt: now });
        } else if (!mayStand(state, row, outcome)) done.unsettled.push(outcome.artifactId);
        else {
          settle(row, outcome);
          done.took.push(outcome.artifactId);
        }
      }
      const sources = done.took.map((id) => rows.byArtifact.get(id)!.claim.sourceId);
      raise(state, sources, now);
      return { ...done, outdated };
    },
    async release(leases, notBefore) {
      return leases.flatMap((lease) => {
        const row = held(lease);
        if (!row) return outdatedBy(lease);
        Object.assign(row, { status: 'queued', token: null, dueAt: notBefore });
        row.failures += 1;
        return [];
      });
    },
    async crashed(lease, now) {
      const row = held(lease);
      if (!row) return rows.byArtifact.get(lease.artifactId)!.status;
      Object.assign(row, { status: 'queued', token: null, dueAt: now });
      row.crashes += 1;
      if (row.crashes >= limits.parserCrashesMax) throw new Error('a run has fewer crashes');
      return 'queued';
    },
    backlog: () => Promise.reject(new Error('a simulation asks for no backlog')),
  };
}

type Want = Parameters<Queue['claim']>[0];

function claim(state: QueueState, want: Want): Job[] {
  const isDue = (row: Row) =>
    row.dueAt <= want.now || row.dueAt > want.now + limits.queueAheadMsMax;
  const due = state.rows.all.filter(isDue);
  const again = due.filter((row) => row.next !== null);
  const first = due.filter((row) => row.next === null && !row.isSettled);
  const jobs = taken(again, Math.ceil(want.limit / 4), want.bytesMax / 4, true);
  const bytes = jobs.reduce((sum, row) => sum + row.claim.bytes, 0);
  jobs.push(...taken(first, want.limit - jobs.length, want.bytesMax - bytes, jobs.length === 0));
  const token = `token ${++state.tokens}`;
  for (const row of jobs) {
    row.failures += row.status === 'parsing' ? 1 : 0;
    Object.assign(row, { status: 'parsing', token, dueAt: want.now + want.leaseMs });
  }
  return jobs.sort((a, b) => a.sequence - b.sequence).map((row) => jobOf(state, row, token));
}

function taken(due: readonly Row[], limit: number, bytesMax: number, firstAlways: boolean): Row[] {
  const rows: Row[] = [];
  let bytes = 0;
  for (const row of due.slice(0, Math.max(0, limit))) {
    bytes += row.claim.bytes;
    if (bytes > bytesMax && !(firstAlways && rows.length === 0)) break;
    rows.push(row);
  }
  return rows;
}

function jobOf({ declared }: QueueState, row: Row, token: string): Job {
  const { claim, sequence, version, generation, status, counts, refusal } = row;
  const { shapeVersion: receiptShapeVersion, artifactId, ...about } = claim;
  const delivery: Delivery = {
    ...{ ...about, artifactId, sequence, receiptShapeVersion, generation, status },
    ...{ shapeVersion: version, counts, refusal, undeclaredFields: [] },
  };
  return {
    ...{ artifactId, token, delivery, generation: row.next?.generation ?? generation },
    ...{ refusal: null, personalNow: [], failures: row.failures },
    shape: declared.shape(claim.sourceId, row.next?.version ?? version),
    company: declared.company,
    metrics: declared.metrics,
  };
}

/** A generation above 0, and a first parse before what was parsed again, only within a turn. */
function mayStand(state: QueueState, row: Row, outcome: Outcome): boolean {
  const { sourceId } = row.claim;
  const isFirst = outcome.generation === row.generation && row.next === null;
  if (isFirst && row.sequence > (state.reparsedUpTo.get(sourceId) ?? 0)) return true;
  return outcome.turn !== null && state.turns.get(outcome.turn)?.sourceId === sourceId;
}

function settle(row: Row, { status, counts, refusal, generation }: Outcome): void {
  row.version = row.next?.version ?? row.version;
  Object.assign(row, { status, counts, refusal, generation, isSettled: true });
  Object.assign(row, { token: null, next: null });
}

/** The contract of `Reparses` over the same rows; nothing is ever withdrawn in a simulation. */
export function memoryReparses(state: QueueState): Reparses {
  const { rows, turns, reparsedUpTo } = state;
  return {
    async begin({ artifactIds, shapeVersion }, now) {
      const settled = artifactIds
        .map((id) => rows.byArtifact.get(id)!)
        .filter((row) => row.isSettled)
        .sort((a, b) => a.sequence - b.sequence);
      if (settled.length === 0) return [];
      const generation = freshNumber(state, now);
      for (const row of settled) {
        const version = shapeVersion ?? row.next?.version ?? row.version;
        Object.assign(row, { next: { generation, version }, isSettled: false, status: 'queued' });
        Object.assign(row, { dueAt: 0, failures: 0, crashes: 0 });
        const { sourceId } = row.claim;
        reparsedUpTo.set(sourceId, Math.max(row.sequence, reparsedUpTo.get(sourceId) ?? 0));
      }
      return settled.map((row) => ({ artifactId: row.claim.artifactId, generation }));
    },
    async takeTurn({ sourceId, leaseMs, now }) {
      const number = freshNumber(state, now);
      const of = sourceId ?? allSources;
      const runs = (until: number) => until > now && until <= now + limits.queueAheadMsMax;
      const stands = (turn: { sourceId: string; until: number }) =>
        (of === allSources || [of, allSources].includes(turn.sourceId)) && runs(turn.until);
      if ([...turns.values()].some(stands)) return null;
      const ended = [...turns].filter(([, turn]) => !runs(turn.until));
      for (const [token] of ended) turns.delete(token);
      const token = `turn ${++state.tokens}`;
      turns.set(token, { sourceId: of, until: now + leaseMs });
      raise(state, [of, ...ended.map(([, turn]) => turn.sourceId)], now);
      return { token, number, reparsedUpTo: reparsedUpTo.get(of) ?? 0 };
    },
    async extendTurn(token, until) {
      const turn = turns.get(token);
      if (turn) turn.until = until;
      return turn !== undefined;
    },
    async endTurn(token) {
      const turn = turns.get(token);
      if (!turn) return;
      turns.delete(token);
      raise(state, [turn.sourceId], 0);
    },
    toForget: async () => [],
    forgotten: async () => {},
  };
}
