import { setTimeout as sleep } from 'node:timers/promises';
import type { Field } from '../../src/domain/nouns.ts';
import { exposedField } from '../../src/domain/personal.ts';
import type { LoopParts } from '../../src/parse/loop.ts';
import type { ParseInput, ParseOutcome, ParseTask } from '../../src/parse/messages.ts';
import { encode, type GivenSample } from '../samples/support.ts';

/** A number in [0, below) out of a seeded sequence (mulberry32). */
export function randomOf(seed: number) {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

export type Random = ReturnType<typeof randomOf>;

/** Three labels take turns in the versions of a shape; each may be made personal later. */
const names = ['who0', 'who1', 'who2'];

/** The fields of a version; its number stands in the name of the last one. */
export function fieldsOf(version: number, personal: string | null): Field[] {
  const label = names[version % names.length]!;
  return [
    { name: 'day', role: 'period' },
    { name: 'seen', role: 'value', metric: 'visits' },
    ...(label === personal ? [] : [{ name: label, role: 'label', label: 'who' } as const]),
    ...(personal === null ? [] : [{ name: personal, personal: true }]),
    { name: `version ${version}` },
  ];
}

export const personalOf = (random: Random) => (random(2) === 0 ? names[random(3)]! : null);

/** What a delivery holds under a version: the same whenever it is asked. */
export function contentOf(artifactId: string, version: number): GivenSample[] {
  const random = randomOf(Number.parseInt(artifactId.slice(-8), 16) ^ (version * 7919));
  return Array.from({ length: random(7) }, (_, i) => ({
    day: 20_000 + random(3),
    metric: 'visits',
    labels: (random(2) === 0 ? {} : { who: `${random(2)}` }) as Record<string, string>,
    value: `${random(1_000)}.${version}`,
    record: i + 1,
  }));
}

/** As a parse thread: rows and counts of what the delivery holds. */
export function parse(task: ParseTask): ParseOutcome[] {
  return task.deliveries.map((input) => {
    const version = Number(/\d+$/.exec(input.fields.at(-1)!.name)![0]);
    const field = exposedField(input.fields, input.personalNow);
    const samples = field === null ? contentOf(input.artifactId, version) : [];
    return outcomeOf(input, samples, field);
  });
}

function outcomeOf(
  input: ParseInput,
  samples: readonly GivenSample[],
  field: string | null,
): ParseOutcome {
  const records = samples.length;
  const counts = { records, parsed: records, rejected: 0, samples: records };
  const sampleRows = encode({ ...input, samples });
  return {
    ...{ kind: 'done', status: field === null ? 'parsed' : 'rejected', valuesSeen: records },
    counts: { ...counts, blank: 0, supersededWithin: 0 },
    refusal:
      field === null
        ? null
        : { record: null, line: null, field, code: 'personal_field', message: 'Personal.' },
    undeclaredFields: [],
    ...{ sampleRows: [new Uint8Array(sampleRows)], sampleRowCount: records },
    ...{ rejectionRows: [], rejectionRowCount: 0 },
  };
}

/** What may happen to the calls of a loop. */
export interface Faults {
  /** Of 100 calls, how many fail before and how many after they were done. */
  percent: number;
  /** Longest delay of a call, and longest stall before rows are inserted. */
  delayMs: number;
  stallMs: number;
  /** The process is gone: no call is made any more, none returns. */
  dead: boolean;
}

/** The parts of a loop whose every call may be slow, fail before it or after it, or not return. */
export function faulty(parts: LoopParts, random: Random, faults: Faults): LoopParts {
  const call =
    <A extends unknown[], R>(work: (...args: A) => Promise<R>, spared = false) =>
    async (...args: A): Promise<R> => {
      await alive(faults, random(faults.delayMs + 1));
      const fate = spared ? 100 : random(100);
      if (fate < faults.percent) throw new Error('failed before');
      const answer = await work(...args);
      await alive(faults, random(faults.delayMs + 1));
      if (fate < 2 * faults.percent) throw new Error('failed after');
      return answer;
    };
  const { queue, reparses, samples, rows } = parts;
  return {
    ...parts,
    queue: {
      ...queue,
      claim: call((want) => queue.claim(want)),
      extend: call((leases, until) => queue.extend(leases, until)),
      complete: call((outcomes, now) => queue.complete(outcomes, now)),
      // Were its answer lost, nobody would know of rows that came late: with the stall that must
      // come before it, that is two faults at once.
      release: call((leases, notBefore) => queue.release(leases, notBefore), true),
    },
    reparses: {
      takeTurn: call((want) => reparses.takeTurn(want)),
      extendTurn: call((token, until) => reparses.extendTurn(token, until)),
      endTurn: call((token) => reparses.endTurn(token)),
      toForget: call(() => reparses.toForget()),
      forgotten: call((sourceId, generation) => reparses.forgotten(sourceId, generation)),
    },
    samples: {
      settle: call((settlement) => samples.settle(settlement)),
      forget: call((forgetting) => samples.forget(forgetting)),
    },
    rows: {
      room: () => rows.room(),
      add: call(async (encoded, count, job) => {
        if (random(6) === 0) await alive(faults, random(faults.stallMs + 1));
        await rows.add(encoded, count, job);
      }),
    },
  };
}

async function alive(faults: Faults, ms: number): Promise<void> {
  if (ms > 0) await sleep(ms);
  if (faults.dead) await new Promise(() => {});
}

/** The sample rows of an outcome as blocks. */
export function rowsOf(outcome: { readonly sampleRows: unknown }): Uint8Array[] {
  const { sampleRows } = outcome;
  return Array.isArray(sampleRows) ? sampleRows : [sampleRows as Uint8Array];
}
