import { setTimeout as sleep } from 'node:timers/promises';
import type { MinioVictim, ServiceVictim, Victim } from './victims.ts';

export interface Victims {
  readonly service: ServiceVictim;
  readonly engine: Victim;
  readonly minio: MinioVictim | null;
}

type Random = (n: number) => number;
type Fault = (victims: Victims, random: Random) => Promise<unknown>;

const killAll = ({ service, engine, minio }: Victims) =>
  Promise.all([engine.kill(), minio?.kill(), service.kill()]);

/** As often as it stands here. Stops end while other faults are made. */
const faults: readonly Fault[] = [
  ...Array.from(
    { length: 4 },
    (): Fault =>
      ({ service }) =>
        service.kill(),
  ),
  ...Array.from(
    { length: 3 },
    (): Fault =>
      ({ engine }) =>
        engine.kill(),
  ),
  ...Array.from(
    { length: 2 },
    (): Fault =>
      async ({ minio }) =>
        minio?.kill(),
  ),
  ({ service, engine }) => Promise.all([engine.kill(), service.kill()]),
  killAll,
  killAll,
  // Again while it starts.
  async ({ service }, random) => {
    await service.kill();
    await sleep(random(1_500));
    await service.kill();
  },
  // A stopped engine cannot see that its service is gone.
  async ({ service, engine }, random) => {
    void engine.stop(200 + random(2_000));
    await service.kill();
  },
  async ({ service }, random) => void service.stop(100 + random(2_000)),
  async ({ engine }, random) => void engine.stop(100 + random(3_000)),
  async ({ minio }, random) => void minio?.stop(100 + random(3_000)),
];

/** So long nothing is done between two faults; less while kills are behind their number. */
const pauseMs = { least: 50, most: 2_000, behind: 400 };
/** One kill in so long, on average: over 200 in ten minutes. */
const killEveryMs = 2_700;

/** Makes faults at random times until it is aborted. @param onFault told of each */
export async function storm(
  victims: Victims,
  random: Random,
  signal: AbortSignal,
  onFault: () => void = () => {},
): Promise<void> {
  const began = Date.now();
  while (!signal.aborted) {
    // Most faults find a service that works, some one that starts.
    if (random(4) > 0) await victims.service.ready();
    const isBehind = killsOf(victims) < (Date.now() - began) / killEveryMs;
    await sleep(pauseMs.least + random(isBehind ? pauseMs.behind : pauseMs.most));
    await faults[random(faults.length)]!(victims, random);
    onFault();
  }
}

/** How many kills there were of all of them. */
export function killsOf({ service, engine, minio }: Victims): number {
  return service.kills + engine.kills + (minio?.kills ?? 0);
}

/** Resolves when all runs again as if there had been no fault. */
export async function healed({ service, engine, minio }: Victims): Promise<void> {
  await Promise.all([engine.healed(), minio?.healed()]);
  await service.healed();
}
