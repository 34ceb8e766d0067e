import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import {
  ArtifactMissing,
  type ArtifactStore,
  StoreAway,
  type Upload,
} from '../../src/artifacts/artifacts.ts';
import { isSegmentName } from '../../src/artifacts/object-name.ts';
import { type SampleStore, SamplesAway } from '../../src/samples/samples.ts';
import { joinRows } from '../../src/samples/window.ts';
import {
  type Call,
  type Caller,
  callOutside,
  type Fate,
  type Weather,
  type World,
} from './outside.ts';
import type { SampleRows } from './sample-rows.ts';

/** The object store: what was committed outlives every process. */
export class Objects {
  readonly bytes = new Map<string, Buffer>();
  /** Who committed an object. */
  readonly owners = new Map<string, Caller>();
  mark: string | null = null;
  readonly #used = new Set<string>();

  /** As a process reaches it. */
  of(world: World, caller: Caller, weather: Weather): ArtifactStore {
    const call = <T>(name: string, effect: () => T) =>
      callOutside(world, caller, { name: `objects ${name}`, weather, effect, away: storeAway });
    return {
      kind: 's3',
      prepare: () => call('prepare', () => {}),
      begin: (object, length) => this.#begin(world, caller, weather, { object, length }),
      read: (place) =>
        call('read', () => {
          const whole = this.bytes.get(place.object);
          const end = place.offset + place.length;
          if (!whole || whole.length < end) throw new ArtifactMissing(place.object);
          const bytes = Buffer.from(whole.subarray(place.offset, end));
          if (world.random.percent(weather.damages)) bytes[world.random.below(bytes.length)]! ^= 1;
          return Readable.from([bytes]);
        }),
      contents: () => Promise.reject(new Error('a simulation recovers nothing')),
      remove: (object) =>
        callOutside(world, caller, {
          ...{ name: 'objects remove', weather, away: storeAway, leavesOver: true },
          effect: () => void this.bytes.delete(object),
        }),
      list: () => this.#list(),
      readMark: () => call('readMark', () => this.mark),
      writeMark: (text) =>
        call('writeMark', () => {
          this.mark = text;
          return world.time.clock;
        }),
      ping: () => call('ping', () => {}),
      close: async () => {},
    };
  }

  async *#list() {
    for (const [object, { length: bytes }] of this.bytes) {
      yield { object, bytes, storedAt: 0, isSegment: isSegmentName(object) };
    }
  }

  #begin(
    world: World,
    caller: Caller,
    weather: Weather,
    { object, length }: { object: string; length: number },
  ): Upload {
    if (this.#used.has(object)) throw new Error(`assertion failed: ${object} is used twice`);
    this.#used.add(object);
    const parts: Buffer[] = [];
    const call = (name: string, effect: () => void) =>
      callOutside(world, caller, {
        ...{ name: `objects ${name}`, weather, effect, away: storeAway, leavesOver: true },
      });
    return {
      write: (bytes) => {
        // Taken now: the caller uses the memory again once this resolves.
        parts.push(Buffer.from(bytes));
        return weather.down ? call('write', () => {}) : Promise.resolve();
      },
      commit: (sha256) =>
        call('commit', () => {
          const whole = Buffer.concat(parts);
          const sum = createHash('sha256').update(whole).digest();
          if (whole.length !== length || !sum.equals(sha256)) {
            throw new StoreAway('the bytes are not those that were announced');
          }
          this.bytes.set(object, whole);
          this.owners.set(object, caller);
        }),
      // A commit that was sent cannot be called back.
      abort: async () => {},
    };
  }
}

const storeAway = (why: Fate) => new StoreAway(why);
const samplesAway = (why: Fate) => new SamplesAway(why);

/** The sample store as a process reaches it. */
export function samplesOf(
  world: World,
  caller: Caller,
  weather: Weather,
  rows: SampleRows,
): SampleStore {
  const { random } = world;
  const call = <T>(name: string, effect: () => T, more: Partial<Call<T>> = {}) =>
    callOutside(world, caller, {
      ...{ name: `samples ${name}`, weather, effect, away: samplesAway },
      ...more,
    });
  return {
    prepare: () => call('prepare', () => {}),
    insert: (encoded) =>
      call('insert', () => rows.insert(encoded), {
        half: () => rows.insert(encoded, random.below(3)),
      }),
    settle: (settlement) =>
      call('settle', () => rows.settle(settlement), {
        half: () => rows.noteGenerations(settlement),
      }),
    forget: (forgetting) => call('forget', () => rows.forget(forgetting)),
    window: ({ sourceId, fromDay, toDay, sandbox, limit, around }) =>
      call('window', () => {
        const found = rows
          .readable(sourceId, fromDay, toDay)
          .filter((row) => sandbox === undefined || row.sandbox === sandbox);
        const shown = found.slice(0, limit + 1).map((row) => Buffer.from(`${sampleJson(row)}\n`));
        return joinRows(shown, limit, around);
      }),
    generation: () => {
      throw new Error('a simulation reads no generation');
    },
    rejections: ({ artifactId, generation, limit }) =>
      call('rejections', () =>
        [...rows.rejections.values()]
          .filter((line) => line.startsWith(`${artifactId}\t${generation}\t`))
          .slice(0, limit)
          .map((line) => {
            const [, , record, , , field, code, message] = line.split('\t') as string[];
            const text = { field: field!, code: code!, message: message! };
            return { record: Number(record), line: null, ...text };
          }),
      ),
    ping: () => call('ping', () => {}),
    close: async () => {},
  };
}

type Row = ReturnType<SampleRows['readable']>[number];

/** As the statement of a window read makes it (`src/samples/window.ts`). */
function sampleJson({ metric, day, value, labels, sandbox, artifactId }: Row): string {
  const date = new Date(day * 86_400_000).toISOString().slice(0, 10);
  return (
    `{"metric":"${metric}","period_start":"${date}","value":"${value}",` +
    `"labels":${labels},"sandbox":${sandbox},"artifact_id":"${artifactId}"}`
  );
}
