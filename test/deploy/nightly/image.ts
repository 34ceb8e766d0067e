import { mkdir } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { configOf, type ImageConfig, type Instruction, type Stage } from '../dockerfile.ts';
import { run } from './run.ts';
import { accessEnvironment, type StandIns } from './stand-ins.ts';

/** An image as a directory, and how a container of it is started. */
export interface Image {
  readonly name: string;
  readonly root: string;
  readonly config: ImageConfig;
}

interface Build {
  readonly stages: readonly Stage[];
  readonly standIns: StandIns;
  /** What `COPY` without `--from` reads. */
  readonly context: string;
  readonly work: string;
  readonly done: Map<string, string>;
}

/** Runs the steps of a Dockerfile up to each of the targets; each stage is a directory. */
export async function buildImages(
  options: Omit<Build, 'done'>,
  targets: readonly string[],
): Promise<Image[]> {
  const build = { ...options, done: new Map<string, string>() };
  const images: Image[] = [];
  for (const target of targets) {
    const root = await stageRoot(build, target);
    images.push({ name: target, root, config: configOf(build.stages, target) });
  }
  return images;
}

async function stageRoot(build: Build, name: string): Promise<string> {
  const there = build.done.get(name);
  if (there !== undefined) return there;
  const stage = build.stages.find((one) => one.name === name);
  if (!stage) throw new Error(`the Dockerfile has no stage ${name}`);
  const root = join(build.work, 'stages', name);
  await mkdir(join(build.work, 'stages'), { recursive: true });
  await makeBase(build, stage.from, root);
  const place: Place = { root, workdir: '/', env: {} };
  for (const instruction of stage.instructions) await step(build, place, stage, instruction);
  build.done.set(name, root);
  return root;
}

async function makeBase(build: Build, from: string, root: string): Promise<void> {
  if (from === 'scratch') {
    await mkdir(root);
    return;
  }
  await run('cp', ['-a', '--reflink=auto', await baseOf(build, from), root]);
}

async function baseOf(build: Build, from: string): Promise<string> {
  if (from === 'debian:trixie-slim') return build.standIns.debian;
  if (/^node:[0-9.]+-trixie-slim$/.test(from)) return build.standIns.node;
  return stageRoot(build, from);
}

interface Place {
  readonly root: string;
  workdir: string;
  env: Record<string, string>;
}

async function step(build: Build, place: Place, stage: Stage, { name, text }: Instruction) {
  if (name === 'RUN' || name === 'COPY' || name === 'ADD') {
    console.log(`   ${stage.name}: ${name} ${text.slice(0, 100)}`);
  }
  if (name === 'WORKDIR') {
    place.workdir = resolve(place.workdir, text);
    await mkdir(join(place.root, place.workdir), { recursive: true });
  } else if (name === 'RUN') {
    await runStep(place, stage, text);
  } else if (name === 'COPY') {
    await copyStep(build, place, text);
  } else if (name === 'ADD') {
    if (!text.includes('uWebSockets.js')) throw new Error(`nothing stands in for ADD ${text}`);
    await run('cp', ['-a', `${build.standIns.uwebsockets}/.`, place.root]);
  }
  // The others only say how a container is started: see `configOf`.
}

async function runStep({ root, workdir }: Place, stage: Stage, text: string) {
  const path = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
  const access = stage.from.startsWith('node:') ? accessEnvironment() : {};
  const env = { ...access, PATH: path, HOME: '/root' };
  const script = `cd ${workdir} && ${text}`;
  const into = ['--pid', '--fork', '--kill-child', `--mount-proc=${root}/proc`];
  await run('unshare', [...into, 'chroot', root, 'sh', '-ec', script], { env });
}

async function copyStep(build: Build, { root, workdir }: Place, text: string): Promise<void> {
  const words = text.trim().split(/\s+/);
  const option = words[0]!.startsWith('--from=') ? words.shift()!.slice('--from='.length) : null;
  const source = option === null ? build.context : await stageRoot(build, option);
  const to = words.pop()!;
  const target = join(root, resolve(workdir, to));
  // As Docker does: of a directory its content is copied, a file goes under its name.
  const script = [
    'target=$1; shift; slash=$1; shift',
    'for one in $*; do',
    '  if [ -d "$one" ]; then mkdir -p "$target" && cp -a "$one/." "$target/"',
    '  elif [ "$slash" = yes ]; then mkdir -p "$target" && cp -a "$one" "$target/"',
    '  else mkdir -p "$(dirname "$target")" && cp -a "$one" "$target"; fi',
    'done',
  ].join('\n');
  const slash = /\/$/.test(to) ? 'yes' : 'no';
  const from = words.map((word) => join('.', word));
  await run('sh', ['-euc', script, 'copy', target, slash, ...from], { cwd: source });
}
