import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { randomOf } from '../load.ts';
import { type Check, drainWithinSeconds, judge } from './checks.ts';
import { gather } from './gather.ts';
import { LoadProcess } from './load-process.ts';
import { healed, killsOf, othersIn, storm, type Victims, victimsIn } from './storm.ts';
import { type Totals, totalsOf } from './totals.ts';
import { EngineVictim, ProcessVictim, ServerVictim, ServiceVictim } from './victims.ts';
import { makeWorld, processCount, type StoreKind, type World } from './world.ts';

export interface CampaignOptions {
  readonly seed: number;
  readonly store: StoreKind;
  /** How long the load runs. */
  readonly seconds: number;
  /** Otherwise the load runs and nothing is killed. */
  readonly faults: boolean;
  readonly senders?: number;
  readonly restMs?: number;
  /** Leaves everything where it is, for whoever wants to look. */
  readonly keep?: boolean;
  /** Told now and then what happens. */
  readonly tell?: (line: string) => void;
}

export interface FaultCounts {
  readonly kills: number;
  readonly serviceKills: number;
  readonly engineKills: number;
  readonly minioKills: number;
  /** Of a service of several processes, and of what only that has. */
  readonly processKills?: number;
  readonly postgresKills?: number;
  readonly redisKills?: number;
  readonly stops: number;
  /** The service ended without being killed, and was started again. */
  readonly selfEnds: number;
}

export interface CampaignResult {
  readonly options: Pick<CampaignOptions, 'seed' | 'store' | 'seconds' | 'faults'>;
  readonly faults: FaultCounts;
  /** From the last fault until every delivery was final; null: they were not, in time. */
  readonly drainedSeconds: number | null;
  readonly totals: Totals;
  readonly checks: readonly Check[];
}

const tellEveryMs = 30_000;

/**
 * A whole run: a load that never stops, faults at random times, then no faults until nothing
 * waits, then the oracle.
 *
 * @throws Error when the load failed: a delivery did not get its receipt after the last fault
 */
export async function runCampaign(options: CampaignOptions): Promise<CampaignResult> {
  const world = await makeWorld(options.store);
  const victims = victimsOf(world);
  const { service, process: _, ...others } = victims;
  const over = new AbortController();
  let load: LoadProcess | null = null;
  let faultsMade: Promise<void> = Promise.resolve();
  try {
    await healed(victims);
    const logFile = join(world.dir, 'attempts.log');
    load = await startLoad(world, options, logFile);
    if (options.faults) faultsMade = makeFaults(victims, options, over.signal);
    await Promise.race([load.failed(), faultsFailed(faultsMade), sleep(1_000 * options.seconds)]);
    over.abort();
    await faultsMade;
    const lastFault = Date.now();
    await healed(victims);
    const drainedSeconds = await drained(world, load, lastFault);
    const { seed } = options;
    const { selfEnds } = service;
    const evidence = await gather(world, {
      seed,
      logFile,
      drainedSeconds,
      selfEnds,
      faulted: options.faults,
    });
    const checks = judge(evidence);
    const faults = countsOf(victims);
    return { options, faults, drainedSeconds, totals: totalsOf(evidence, checks), checks };
  } finally {
    over.abort();
    await Promise.allSettled([load?.kill(), faultsMade]);
    await service.end();
    // What was stopped has to go on before it can end; what does not heal was told above.
    await Promise.allSettled(othersIn(others).map((one) => one.healed()));
    await world.remove(options);
  }
}

function victimsOf({ weir, minio, servers }: World): Victims {
  const service = new ServiceVictim(weir);
  const store = minio && { minio: new ServerVictim('minio', minio) };
  if (servers === null) return { service, engine: new EngineVictim(weir), ...store };
  return {
    ...{ service, ...store, process: new ProcessVictim(weir, processCount) },
    engine: new ServerVictim('engine', servers.engine),
    postgres: new ServerVictim('postgres', servers.postgres),
    redis: new ServerVictim('redis', servers.redis),
  };
}

/** Rejects when they failed; that they have ended says nothing. */
function faultsFailed(faults: Promise<void>): Promise<never> {
  return faults.then(() => new Promise<never>(() => {}));
}

function startLoad(
  { weir, scopes, dir }: World,
  { seed, senders = 8, restMs = 60 }: CampaignOptions,
  log: string,
): Promise<LoadProcess> {
  const task = { url: weir.url, seed, senders, restMs, scopes, log };
  return LoadProcess.start(task, join(dir, 'load.json'));
}

function makeFaults(
  victims: Victims,
  { seed, tell = () => {} }: CampaignOptions,
  signal: AbortSignal,
): Promise<void> {
  let toldAt = Date.now();
  return storm(victims, randomOf(seed), signal, () => {
    if (Date.now() - toldAt < tellEveryMs) return;
    toldAt = Date.now();
    const { kills, stops } = countsOf(victims);
    tell(`${kills} kills, ${stops} stops`);
  });
}

/** @returns the seconds since the last fault when every delivery is final; null: too late */
async function drained(world: World, load: LoadProcess, lastFault: number): Promise<number | null> {
  await load.stop();
  for (;;) {
    const seconds = (Date.now() - lastFault) / 1_000;
    if ((await world.catalog.waiting()) === 0 && (await isWhole(world))) return seconds;
    if (seconds > drainWithinSeconds) return null;
    await sleep(100);
  }
}

/** Whether the service says that nothing is away. */
async function isWhole({ weir }: World): Promise<boolean> {
  const answer = await fetch(`http://127.0.0.1:${weir.place.ops}/readyz`).catch(() => null);
  const said = (await answer?.json().catch(() => null)) as { status?: string } | null | undefined;
  return said?.status === 'ready';
}

function countsOf(victims: Victims): FaultCounts {
  const { service, engine, minio, process, postgres, redis } = victims;
  return {
    kills: killsOf(victims),
    ...{ serviceKills: service.kills, engineKills: engine.kills, minioKills: minio?.kills ?? 0 },
    ...(process && { processKills: process.kills }),
    ...(postgres && { postgresKills: postgres.kills }),
    ...(redis && { redisKills: redis.kills }),
    stops: victimsIn(victims).reduce((sum, one) => sum + one.stops, 0),
    selfEnds: service.selfEnds.length,
  };
}
