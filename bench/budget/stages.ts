/** What of a V8 CPU profile the budget needs (`node --cpu-prof`). Times are microseconds. */
export interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  /** On the clock of `process.hrtime`. */
  readonly startTime: number;
  /** The node that ran at each sample. */
  readonly samples: readonly number[];
  /** From one sample to the next, the first from `startTime`. */
  readonly timeDeltas: readonly number[];
}

export interface ProfileNode {
  readonly id: number;
  readonly callFrame: { readonly functionName: string; readonly url: string };
  readonly children?: readonly number[];
}

/** What the main thread of the service spends its time on, on the way of a delivery. */
export const stages = [
  'receive',
  'hash',
  'send',
  'catalog',
  'reply',
  'rest of weir',
  'native',
  'collector',
  'waiting',
] as const;

export type Stage = (typeof stages)[number];

/** By where its code lies; the first that fits the innermost frame, else the one around it. */
const byPlace: readonly (readonly [RegExp, Stage])[] = [
  [/\/src\/artifacts\//, 'send'],
  [/\/src\/catalog\//, 'catalog'],
  [/\/src\/accept\/(body|buffer-pool|held-body|read-turns|sender-watch)\.ts/, 'receive'],
  [/\/src\/http\//, 'reply'],
  [/\/src\/accept\//, 'reply'],
  [/\/src\//, 'rest of weir'],
];

const byName: Readonly<Record<string, Stage>> = {
  '(idle)': 'waiting',
  '(program)': 'native',
  '(garbage collector)': 'collector',
};

/**
 * Adds the samples of a profile up by stage.
 *
 * @param from, to microseconds of `process.hrtime`; samples outside are not counted
 * @returns milliseconds of each stage
 */
export function stageTimes(profile: CpuProfile, from: number, to: number): Record<Stage, number> {
  const stageOf = stagesOfNodes(profile.nodes);
  const times = Object.fromEntries(stages.map((stage) => [stage, 0])) as Record<Stage, number>;
  let at = profile.startTime;
  for (const [i, sample] of profile.samples.entries()) {
    const delta = profile.timeDeltas[i]!;
    at += delta;
    if (at < from || at > to) continue;
    times[stageOf.get(sample)!] += delta / 1_000;
  }
  return times;
}

function stagesOfNodes(nodes: readonly ProfileNode[]): Map<number, Stage> {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const found = new Map<number, Stage>();
  const visit = (node: ProfileNode, around: Stage) => {
    const stage = stageOfFrame(node, around);
    found.set(node.id, stage);
    for (const child of node.children ?? []) visit(byId.get(child)!, stage);
  };
  visit(nodes[0]!, 'rest of weir');
  return found;
}

function stageOfFrame({ callFrame: { functionName, url } }: ProfileNode, around: Stage): Stage {
  const named = byName[functionName];
  if (named !== undefined) return named;
  if (url === 'node:internal/crypto/hash' || functionName === 'Hash') return 'hash';
  // A socket's own callbacks are not within code of weir: whatever is not received here is sent.
  if (around === 'rest of weir' && /^node:(net|internal\/stream_base_commons)$/.test(url)) {
    return 'send';
  }
  return byPlace.find(([place]) => place.test(url))?.[1] ?? around;
}
