import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { limits } from '../../src/domain/limits.ts';
import { type Loader, sharedLoader, takeNumbers } from '../load/loader.ts';
import type { Job, Load, Target } from '../load/messages.ts';
import { figure } from '../report/numbers.ts';
import { minioTaker } from '../takers/minio.ts';
import { weirTaker } from '../takers/weir.ts';
import { cpuMsOf } from '../world/processes.ts';
import { sharedMinio } from '../world/stores.ts';
import { BenchWeir } from '../world/weir.ts';
import { World } from '../world/world.ts';
import { measureLimits } from './limits.ts';
import { type CpuProfile, type Stage, stages, stageTimes } from './stages.ts';

/**
 * `npm run bench:budget`: where the time of a delivery into MinIO goes. The stages of the service's
 * main thread come from its CPU profile and add up to the time that went by; the processes' CPU
 * time is what the kernel counted. `-- --keep <directory>` keeps the profiles of all threads.
 */

const seconds = 4;
const world = new World('full');
const { values } = parseArgs({ options: { keep: { type: 'string' } } });
const profiles = values.keep ?? mkdtempSync(join(tmpdir(), 'weir-profiles-'));
try {
  const minio = await sharedMinio(world);
  const loader = await sharedLoader(world);
  for (const kind of ['documents', 'pushes'] as const) {
    const weir = await BenchWeir.start({
      WEIR_ARTIFACTS_URL: minio.url(`budget-${kind}`),
      NODE_OPTIONS: `--cpu-prof --cpu-prof-interval=2000 --cpu-prof-dir=${profiles}`,
    });
    await weir.holdParsing(true);
    const ours = await weirTaker(weir, kind === 'documents' ? 'document' : 'push');
    const theirs = await minioTaker(world);
    const pids = { weir: weir.pid, MinIO: minio.pid, loader: loader.pid };
    const direct = await spend(loader, jobsOf(kind, theirs.target), pids);
    const through = await spend(loader, jobsOf(kind, ours.target), pids);
    const { pid } = weir;
    await weir.stop('SIGTERM');
    const times = stageTimes(profileOf(pid), through.from, through.to);
    print(kind, through, direct, times);
  }
  for (const [what, value] of await measureLimits()) console.log(`${what}: ${value}`);
} finally {
  await world.end();
  if (values.keep === undefined) rmSync(profiles, { recursive: true, force: true });
}

/** Jobs of the bench's load, of a size that the rate of the one before tells. */
function jobsOf(kind: 'documents' | 'pushes', target: Target): (count: number) => Job {
  return (count) =>
    kind === 'documents'
      ? {
          ...{ kind, target, connections: 4, count, first: takeNumbers(count) },
          documentBytes: limits.deliveryBytesMax,
        }
      : { kind, target, connections: 64, count, first: takeNumbers(count), pushBytes: 1_024 };
}

interface Spent {
  readonly deliveries: number;
  readonly ms: number;
  /** Microseconds of `process.hrtime`. */
  readonly from: number;
  readonly to: number;
  /** CPU time of each process, in milliseconds. */
  readonly cpuMs: Readonly<Record<string, number>>;
}

async function spend(
  loader: Loader,
  job: (count: number) => Job,
  pids: Readonly<Record<string, number>>,
): Promise<Spent> {
  const rate = ({ latenciesMs, seconds: took }: Load) => latenciesMs.length / took;
  const first = await loader.run(job(64));
  const count = Math.max(64, Math.round(rate(first) * seconds));
  const cpu = () => Object.values(pids).map(cpuMsOf);
  const before = cpu();
  const from = Number(process.hrtime.bigint() / 1_000n);
  const load = await loader.run(job(count));
  const to = Number(process.hrtime.bigint() / 1_000n);
  const after = cpu();
  const cpuMs = Object.keys(pids).map((name, i) => [name, after[i]! - before[i]!] as const);
  const deliveries = load.latenciesMs.length;
  return { deliveries, ms: (to - from) / 1_000, from, to, cpuMs: Object.fromEntries(cpuMs) };
}

function profileOf(pid: number): CpuProfile {
  const name = readdirSync(profiles).find((file) => file.includes(`.${pid}.0.`));
  if (!name) throw new Error('the service left no profile of its main thread');
  return JSON.parse(readFileSync(join(profiles, name), 'utf8')) as CpuProfile;
}

function print(kind: string, through: Spent, direct: Spent, times: Record<Stage, number>): void {
  const each = (ms: number, { deliveries }: Spent) => `${figure(ms / deliveries)} ms`;
  console.log(`\n${kind}, milliseconds for each of ${through.deliveries} deliveries`);
  console.log('| stage of the main thread | time |\n|---|--:|');
  for (const stage of stages) console.log(`| ${stage} | ${each(times[stage], through)} |`);
  const sum = stages.reduce((all, stage) => all + times[stage], 0);
  console.log(`| sum | ${each(sum, through)} |`);
  console.log(`| time that went by | ${each(through.ms, through)} |`);
  console.log('\n| CPU time of | through weir | PUT straight to MinIO |\n|---|--:|--:|');
  for (const [name, ms] of Object.entries(through.cpuMs)) {
    const other = name === 'weir' ? '' : each(direct.cpuMs[name]!, direct);
    console.log(`| ${name} | ${each(ms, through)} | ${other} |`);
  }
  console.log(`| time that went by | ${each(through.ms, through)} | ${each(direct.ms, direct)} |`);
}
