import type { Logger } from 'pino';
import { listen } from '../../http/listener.ts';
import type { Metrics } from '../../metrics/metrics.ts';
import { prometheusMetrics } from '../../metrics/prometheus.ts';
import { leftBy, type MetricsSnapshot, textOf } from '../../metrics/together.ts';
import { parseThreadsOf } from '../../parse/pool.ts';
import { memoryRates } from '../../rates/memory.ts';
import type { Rates } from '../../rates/rates.ts';
import { healthTogether, type Ops, opsRoutes } from '../../serve/ops.ts';
import { monotonicClock } from '../../std/clock.ts';
import { listensAt, needsSamples, type Role } from '../roles.ts';
import type { Service } from '../serve.ts';
import type { Settings } from '../settings.ts';
import { startServiceEngine } from '../stores.ts';
import { holdAddress } from './hold-address.ts';
import type { FromProcess, ToProcess } from './messages.ts';
import { SupervisedProcess } from './supervised-process.ts';

/**
 * A service of several processes. They share its addresses: the system hands connections out among
 * them. The supervisor has what there is once: the addresses, against other services; the embedded
 * engine; the rates, unless Redis has them; and the ops listener, which tells of all together.
 * Deliveries never pass through it.
 *
 * Ordering: the first process makes or changes what the stores need, and the demo; the others
 * follow when it is up. Upkeep is the first's alone.
 *
 * Failure: a process that ends is started again, and its place on the addresses goes with it: only
 * its own connections break. When the supervisor ends, so do its processes and the engine.
 *
 * @throws Error with one clear line when an address or the data directory is taken, or a process
 *   cannot start
 */
export async function startProcesses(
  settings: Settings,
  log: Logger,
  { count, roles }: { readonly count: number; readonly roles: ReadonlySet<Role> },
): Promise<Service> {
  const closings: (() => Promise<unknown>)[] = [];
  const stop = async () => {
    for (const close of closings.splice(0).reverse()) await close();
  };
  try {
    for (const address of addressesToHold(settings, roles)) {
      closings.push(await holdAddress(address));
    }
    const metrics = prometheusMetrics(log);
    const processes: SupervisedProcess[] = [];
    const together = new Together(processes, metrics);
    const shared = { processes, together, rates: memoryRates(monotonicClock) };
    for (let number = 1; number <= count; number++) {
      processes.push(newProcess({ number, log }, shared));
    }
    metrics.watch('weir_processes', () => processes.filter((one) => one.isReady).length);
    const ops = await listen(settings.WEIR_OPS_LISTEN, opsRoutes(together), log);
    closings.push(() => ops.close(0));
    const engine = needsSamples(roles) ? await startServiceEngine(settings, log) : null;
    if (engine) closings.push(() => engine.stop());
    metrics.watch('weir_engine_restarts', () => engine?.restarts() ?? 0);
    closings.push(() => Promise.all(processes.map((one) => one.stop())));
    const parseThreads = parseThreadsOf(count);
    const options = { roles: [...roles], parseThreads, engine: engine?.address ?? null };
    const [first, ...others] = processes;
    await first!.start({ ...options, isFirst: true });
    await Promise.all(others.map((one) => one.start({ ...options, isFirst: false })));
  } catch (error) {
    await stop();
    throw error;
  }
  const { baseUrl: api, appUrl: app, dataDir } = settings;
  log.info({ api, app, dataDir, processes: count, roles: [...roles] }, 'weir serves');
  return { stop };
}

/** A second service may share the API's address where the settings say so. */
function addressesToHold(settings: Settings, roles: ReadonlySet<Role>) {
  const { api, app } = listensAt(roles);
  const held = [];
  if (app) held.push(settings.WEIR_APP_LISTEN);
  if (api && settings.WEIR_LISTEN_SHARED !== '1') held.push(settings.WEIR_LISTEN);
  return held;
}

interface Shared {
  readonly processes: readonly SupervisedProcess[];
  readonly together: Together;
  readonly rates: Rates;
}

function newProcess(
  parts: { readonly number: number; readonly log: Logger },
  { processes, together, rates }: Shared,
): SupervisedProcess {
  const made: SupervisedProcess = new SupervisedProcess({
    ...parts,
    onMessage(message, answer) {
      if (message.kind === 'take') void take(rates, message, answer);
      else for (const one of processes) if (one !== made) one.send({ kind: 'wake' });
    },
    onEnd: () => together.noteEnd(made),
  });
  return made;
}

async function take(
  rates: Rates,
  { id, takes }: FromProcess & { kind: 'take' },
  answer: (message: ToProcess) => void,
): Promise<void> {
  const verdicts = await Promise.all(takes.map(({ bucket, rule }) => rates.take(bucket, rule)));
  answer({ kind: 'taken', id, verdicts });
}

/** What the processes tell, put together. */
class Together implements Ops {
  readonly #processes: readonly SupervisedProcess[];
  readonly #metrics: Metrics;
  /** As last told by each process that runs. */
  readonly #last = new Map<SupervisedProcess, MetricsSnapshot>();
  #left: Promise<MetricsSnapshot> = Promise.resolve([]);

  constructor(processes: readonly SupervisedProcess[], metrics: Metrics) {
    this.#processes = processes;
    this.#metrics = metrics;
  }

  /** What it counted until it was last asked stays counted. */
  noteEnd(ended: SupervisedProcess): void {
    const last = this.#last.get(ended);
    this.#last.delete(ended);
    if (last) this.#left = this.#left.then((before) => leftBy(before, last));
  }

  async health() {
    const told = await Promise.all(this.#processes.map((one) => one.tell('health')));
    const names = told.map((health, i) => [`process ${i + 1}`, health] as const);
    return healthTogether(Object.fromEntries(names));
  }

  async backlogOldestSeconds(): Promise<number | null> {
    const told = await this.#processes[0]?.tell('metrics');
    const gauge = told?.find(({ name }) => name === 'weir_backlog_oldest_seconds');
    const [value] = (gauge?.values ?? []) as { value: number }[];
    return value?.value ?? null;
  }

  async scrape() {
    // As it stands now: what ends while the others are asked is counted by what it has told.
    const [left, last] = [this.#left, new Map(this.#last)];
    const told = await Promise.all(this.#processes.map((one) => this.#snapshotOf(one, last)));
    return textOf([await this.#metrics.snapshot(), ...told, await left]);
  }

  /** Of a process that does not answer: what it counted until it last did. */
  async #snapshotOf(
    one: SupervisedProcess,
    last: ReadonlyMap<SupervisedProcess, MetricsSnapshot>,
  ): Promise<MetricsSnapshot> {
    const told = await one.tell('metrics');
    if (told === null) return leftBy([], last.get(one) ?? []);
    if (one.isReady) this.#last.set(one, told);
    return told;
  }
}
