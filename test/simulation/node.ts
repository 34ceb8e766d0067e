import { ingestRoute } from '../../src/accept/ingest.ts';
import type { AcceptParts } from '../../src/accept/keep.ts';
import { Segments } from '../../src/accept/segments.ts';
import { webhookRoute } from '../../src/accept/webhook.ts';
import { limits } from '../../src/domain/limits.ts';
import { readPush } from '../../src/domain/push.ts';
import { openSecret } from '../../src/domain/secrets.ts';
import type { AdmissionParts } from '../../src/http/admission.ts';
import { ByteBudget } from '../../src/http/byte-budget.ts';
import { ClientAddress } from '../../src/http/client-address.ts';
import type { OpenAnswers } from '../../src/http/open-answers.ts';
import { ReferenceSite } from '../../src/http/reference-site.ts';
import { mount } from '../../src/http/routes.ts';
import { ParseLoop } from '../../src/parse/loop.ts';
import { memoryRates } from '../../src/rates/memory.ts';
import { InsertBatcher } from '../../src/samples/batcher.ts';
import { samplesRoute } from '../../src/serve/samples.ts';
import { untilDone } from '../../src/std/retry.ts';
import { MarkKeeper } from '../../src/upkeep/mark-keeper.ts';
import { type CatalogBed, catalogOf } from './catalog-bed.ts';
import { dummySecret, secretKey } from './fixtures.ts';
import { type Caller, fairWeather, ProcessGone, type Weather, type World } from './outside.ts';
import { type Deaths, parsePool } from './parse-pool.ts';
import type { SampleRows } from './sample-rows.ts';
import { type Objects, samplesOf } from './stores.ts';
import { type Answer, FakeApp, type Request } from './wire.ts';

/** How long a stop waits for answers under way. */
const answersMs = 5_000;

/** What all processes share: it outlives each of them. */
export interface Durable {
  readonly catalog: CatalogBed;
  readonly objects: Objects;
  readonly rows: SampleRows;
}

/** The weather on the way to each store, and what the parse threads are like. */
export interface Weathers {
  readonly catalog: Weather;
  readonly objects: Weather;
  readonly samples: Weather;
  readonly threads: Weather;
  readonly deaths: Deaths;
}

export function fairWeathers(): Weathers {
  return {
    ...{ catalog: fairWeather(), objects: fairWeather(12), samples: fairWeather(15) },
    ...{ threads: fairWeather(5), deaths: { left: 0 } },
  };
}

/**
 * One process of the service: its real parts, put together as `src/start/serve.ts` does, on
 * simulated stores. It may be killed or stood still between any two events.
 */
export class ServiceProcess implements Caller {
  readonly name: string;
  readonly waiting = new Set<(error: Error) => void>();
  /** Messages that tell of a defect of weir, whatever its surroundings did. */
  readonly defects: string[] = [];
  alive = true;
  isTroubled = false;
  pausedUntil = 0;
  /** Its listener answers. */
  serves = false;
  readonly #world: World;
  readonly #app = new FakeApp();
  readonly #loop: ParseLoop;
  readonly #batcher: InsertBatcher;
  readonly #keeper: MarkKeeper;
  /** Connections are taken; a stop ends that when nobody asks any more. */
  #listens = true;
  readonly #mount: () => OpenAnswers;
  #open: OpenAnswers | null = null;

  constructor(name: string, world: World, durable: Durable, weathers: Weathers) {
    this.name = name;
    this.#world = world;
    const { time } = world;
    const clock = () => time.clock;
    const catalog = catalogOf(durable.catalog, world, this, weathers.catalog);
    const artifacts = durable.objects.of(world, this, weathers.objects);
    const samples = samplesOf(world, this, weathers.samples, durable.rows);
    const log = { info: () => {}, warn: this.#note, error: this.#note };
    this.#batcher = new InsertBatcher({ store: samples });
    const { threads: weather, deaths } = weathers;
    const pool = parsePool(world, this, { weather, deaths }, artifacts);
    const { queue, reparses, upkeep } = catalog;
    const parts = { queue, reparses, samples, rows: this.#batcher, pool, clock, log };
    this.#loop = new ParseLoop(parts);
    this.#keeper = new MarkKeeper({ artifacts, upkeep, log });
    const admission = admissionOf(catalog.lookup, clock);
    const accept: AcceptParts = {
      ...{ catalog, artifacts, clock, log, newArtifactId: this.#newId },
      segments: new Segments({ artifacts, newArtifactId: this.#newId }),
      budget: new ByteBudget(limits.bodyBytesHeldMax, limits.keyedBytesASecondMin),
      readLargePush: async (body, required) => readPush(body, required),
      onStored: () => {
        this.#keeper.noteReceipt();
        this.#loop.wake();
      },
      requireAccepting: () => this.#keeper.requireAccepting(),
    };
    const routes = [
      ingestRoute(accept, admission),
      webhookRoute({
        ...{ ...accept, rates: admission.rates, rate: admission.keyRate, dummySecret },
        openSecret: (id, bytes) => openSecret(secretKey, id, bytes),
        unverifiedBudget: new ByteBudget(limits.unverifiedBytesHeldMax, 1),
        noteSecretUse: () => {},
      }),
      samplesRoute({ admission, samples }),
    ];
    this.#mount = () => mount(this.#app.app, routes, log, admission.site);
  }

  /** As a start does it; it tries again while a store is away. */
  async start(): Promise<void> {
    const { signal } = new AbortController();
    const told = (error: unknown) => this.#note({ err: error });
    const how = { waitMs: 200, waitMaxMs: 1_000, signal, told };
    await untilDone(() => this.#keeper.start(), how);
    this.#loop.start();
    this.#open = this.#mount();
    this.serves = true;
    this.#world.trace.add(this.#world.time.now, `${this.name} serves`);
  }

  /** As a stop does it: no new requests, those under way are answered, then it is gone. */
  async stop(): Promise<void> {
    this.serves = false;
    const { time } = this.#world;
    const end = time.now + answersMs;
    this.#open?.beginClosing();
    await this.#open?.settled(answersMs, 0, () => this.#app.open);
    if (time.now >= end) this.isTroubled = true;
    this.#listens = false;
    await Promise.race([this.#loop.stop(), time.sleep(2_000)]);
    await this.#keeper.stop();
    await this.#batcher.close();
    this.end();
  }

  /** As SIGKILL does it. */
  kill(): void {
    if (!this.alive) return;
    this.isTroubled = true;
    this.end();
  }

  end(): void {
    if (!this.alive) return;
    const { time, trace } = this.#world;
    trace.add(time.now, `${this.name} is gone`);
    this.alive = false;
    this.serves = false;
    // What it would still plan belongs to it, and is dropped.
    time.current = this;
    this.#app.cutAll();
    const gone = new ProcessGone('the process is gone');
    for (const reject of [...this.waiting]) reject(gone);
    this.waiting.clear();
  }

  /** @param told null: no answer came. @returns breaks the connection */
  request(request: Request, told: (answer: Answer | null) => void): () => void {
    if (this.#listens) return this.#app.bring(this.#world, this, request, told);
    this.#world.time.after(1, null, () => told(null));
    return () => {};
  }

  readonly #note = (fields: object): void => {
    const { err } = fields as { err?: unknown };
    if (!this.alive || !(err instanceof Error)) return;
    const isDefect = /^assertion failed/.test(err.message) || err instanceof TypeError;
    if (isDefect) this.defects.push(`${this.name}: ${err.stack}`);
  };

  /** A uuid v7 of the run's own random numbers. */
  readonly #newId = (now: number): string => {
    const time = now.toString(16).padStart(12, '0');
    const hex = (digits: number) =>
      this.#world.random
        .below(16 ** digits)
        .toString(16)
        .padStart(digits, '0');
    return `${time.slice(0, 8)}-${time.slice(8)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`;
  };
}

function admissionOf(lookup: AdmissionParts['lookup'], clock: () => number): AdmissionParts {
  const rate = { perMinute: 1_000_000, burst: 1_000_000 };
  return {
    ...{ lookup, rates: memoryRates(clock), keyRate: rate, demoRate: rate, clock, demo: false },
    site: new ReferenceSite([]),
    addresses: new ClientAddress([]),
    noteUse: () => {},
  };
}
