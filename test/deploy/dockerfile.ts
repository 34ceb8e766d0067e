import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** One instruction, its continued lines joined and its variables filled in. */
export interface Instruction {
  readonly name: string;
  /** What stands behind the name, `--options` too. */
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  /** An image, or the name of a stage above. */
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

export const dockerfilePath = fileURLToPath(new URL('../../deploy/Dockerfile', import.meta.url));

/** The stages of weir's Dockerfile. It knows as much of the format as that file uses. */
export function dockerfile(): Stage[] {
  return stagesOf(readFileSync(dockerfilePath, 'utf8'));
}

function stagesOf(text: string): Stage[] {
  const lines = text
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .join('\n')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const args: Record<string, string> = {};
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const line of lines) {
    const [, name = '', rest = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === '') throw new Error(`this is no instruction: ${line}`);
    // In RUN the shell fills in what it knows; of ours there is nothing in there.
    const filled = rest.replaceAll(/\$\{(\w+)\}/g, (whole, key) => args[key] ?? whole);
    if (name === 'ARG') {
      const [key = '', value = ''] = filled.split('=');
      args[key] = value;
    } else if (name === 'FROM') {
      const [from = '', , as = ''] = filled.split(/\s+/);
      stages.push({ name: as, from, instructions: [] });
    } else {
      stages.at(-1)!.instructions.push({ name, text: filled });
    }
  }
  return stages;
}

/** All instructions of a stage, those of the stages that it is built on before its own. */
export function instructionsOf(stages: readonly Stage[], name: string): readonly Instruction[] {
  const stage = stages.find((one) => one.name === name);
  return stage ? [...instructionsOf(stages, stage.from), ...stage.instructions] : [];
}

/** What a container of an image is run with. */
export interface ImageConfig {
  readonly env: Readonly<Record<string, string>>;
  readonly user: string;
  readonly workdir: string;
  readonly entrypoint: readonly string[];
  readonly command: readonly string[];
  readonly healthcheck: readonly string[];
  readonly ports: readonly number[];
  readonly volumes: readonly string[];
  readonly stopSignal: string;
}

export function configOf(stages: readonly Stage[], name: string): ImageConfig {
  const instructions = instructionsOf(stages, name);
  const all = (wanted: string) => instructions.filter((one) => one.name === wanted);
  const last = (wanted: string) => all(wanted).at(-1)?.text ?? '';
  const list = (text: string) => JSON.parse(text || '[]') as string[];
  return {
    env: Object.fromEntries(all('ENV').flatMap(({ text }) => pairsOf(text))),
    user: last('USER'),
    workdir: last('WORKDIR'),
    entrypoint: list(last('ENTRYPOINT')),
    command: list(last('CMD')),
    healthcheck: list(/CMD\s+(.*)$/.exec(last('HEALTHCHECK'))?.[1] ?? ''),
    ports: last('EXPOSE').split(' ').map(Number),
    volumes: last('VOLUME').split(' '),
    stopSignal: last('STOPSIGNAL'),
  };
}

function pairsOf(text: string): [string, string][] {
  return text
    .trim()
    .split(/\s+/)
    .map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at), pair.slice(at + 1)];
    });
}
