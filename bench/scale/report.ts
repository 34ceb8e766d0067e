import type { Machine } from '../report/machine.ts';
import { figure } from '../report/numbers.ts';
import type { Compared, Part, Round } from './accept.ts';
import type { Costs } from './costs.ts';
import type { ScaleMeasured } from './measure.ts';

/** A run, as it is kept. */
export interface ScaleResult {
  readonly commit: string;
  readonly date: string;
  readonly size: 'quick' | 'full' | 'tiny';
  readonly machine: Machine;
  readonly costs: Costs;
  readonly measured: ScaleMeasured;
}

const partNames: readonly (readonly [Part, string])[] = [
  ['weirMain', 'weir, event loop'],
  ['weirThreads', 'weir, other threads'],
  ['supervisor', 'weir, process over several'],
  ['postgres', 'Postgres'],
  ['minio', 'MinIO'],
  ['redis', 'Redis'],
  ['engine', 'ClickHouse engine'],
  ['loader', 'load'],
];

const stores: readonly Part[] = ['postgres', 'minio', 'redis', 'engine'];
const weir: readonly Part[] = ['weirMain', 'weirThreads', 'supervisor'];

/** What a second process adds, in receipts a second. */
export interface Gain {
  readonly name: string;
  readonly one: number;
  readonly two: number;
  readonly ratio: number;
  /** Of the processor time of a receipt with one process, what the stores and the load take. */
  readonly storesShare: number;
  readonly loadShare: number;
  /** What the processor times say where no core is short: as the event loops allow. */
  readonly modelled: number;
}

export function gainsOf(measured: ScaleMeasured): Gain[] {
  const { pushes64, pushes256, limited, documents, limitedTo } = measured;
  const part = `each process on ${limitedTo} of a core`;
  return [
    gainOf('pushes, 64 senders', pushes64),
    gainOf('pushes, 256 senders', pushes256),
    ...limited.map(({ senders, compared }) => {
      return gainOf(`pushes, ${senders} senders, ${part}`, compared);
    }),
    gainOf('documents of 1 MiB, 8 senders', documents),
  ];
}

function gainOf(name: string, { one, two, ratio }: Compared): Gain {
  const all = sum(one, [...weir, ...stores, 'loader']);
  return {
    ...{ name, ratio, one: one.receiptsPerSecond, two: two.receiptsPerSecond },
    storesShare: sum(one, stores) / all,
    loadShare: one.cpuUs.loader / all,
    modelled: (2 * one.cpuUs.weirMain) / two.cpuUs.weirMain,
  };
}

function sum({ cpuUs }: Round, parts: readonly Part[]): number {
  return parts.reduce((all, part) => all + cpuUs[part], 0);
}

/** Processes compared: header and rows. */
export function gainTable(measured: ScaleMeasured): string[][] {
  const percent = (share: number) => `${(share * 100).toFixed(0)} %`;
  return [
    ['load', '1 process', '2 processes', 'ratio', 'stores', 'load', 'loops alone'],
    ...gainsOf(measured).map((gain) => [
      ...[gain.name, figure(gain.one), figure(gain.two), figure(gain.ratio)],
      ...[percent(gain.storesShare), percent(gain.loadShare), figure(gain.modelled)],
    ]),
  ];
}

/** Microseconds of processor time for a delivery, by part. */
export function cpuTable(measured: ScaleMeasured): string[][] {
  const { pushes64, pushes256, documents, parsePushes, parseDocuments } = measured;
  const columns: readonly (readonly [string, Readonly<Record<Part, number>>])[] = [
    ['push, 64 senders', pushes64.one.cpuUs],
    ['2 processes', pushes64.two.cpuUs],
    ['push, 256', pushes256.one.cpuUs],
    ['2 processes', pushes256.two.cpuUs],
    ['document', documents.one.cpuUs],
    ['push parsed', parsePushes.cpuUs],
    ['document parsed', parseDocuments.cpuUs],
  ];
  return [
    ['µs of CPU for each', ...columns.map(([name]) => name)],
    ...partNames.map(([part, name]) => [name, ...columns.map(([, us]) => us[part].toFixed(0))]),
  ];
}

/** Rates and shared writes of each load. */
export function roundTable(measured: ScaleMeasured): string[][] {
  const { pushes64, pushes256, limited, documents } = measured;
  const line = (name: string, round: Round) => [
    ...[name, figure(round.receiptsPerSecond), figure(round.p50Ms), figure(round.p99Ms)],
    ...[figure(round.perObject), figure(round.perGroup), figure(round.loopShare)],
    figure(round.othersShare),
  ];
  const lines = (name: string, { one, two }: Compared) => [
    line(`${name}, 1 process`, one),
    line(`${name}, 2 processes`, two),
  ];
  return [
    ['load', 'receipts/s', 'p50 ms', 'p99 ms', 'in a segment', 'in a group', 'loop', 'others'],
    ...lines('64 senders', pushes64),
    ...lines('256 senders', pushes256),
    ...limited.flatMap(({ senders, compared }) =>
      lines(`${senders} senders, ${measured.limitedTo} core each`, compared),
    ),
    ...lines('documents', documents),
  ];
}

export function scaleText(result: ScaleResult): string {
  const { measured, costs, commit, machine } = result;
  return [
    ...[gainTable(measured), roundTable(measured), cpuTable(measured)].map(padded),
    JSON.stringify(costs, (_, value) =>
      typeof value === 'number' ? Number(figure(value)) : value,
    ),
    `${commit}, ${machine.cpu}, ${machine.cores} cores, load before ${machine.loadBefore}`,
  ].join('\n\n');
}

function padded(rows: readonly string[][]): string {
  const widths = rows[0]!.map((_, i) => Math.max(...rows.map((cells) => cells[i]!.length)));
  const text = (cells: readonly string[]) =>
    cells.map((cell, i) => (i === 0 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)));
  return rows.map((cells) => text(cells).join('  ')).join('\n');
}

export function markdown(rows: readonly string[][]): string {
  const [head, ...lines] = rows;
  const rule = head!.map((_, i) => (i === 0 ? '---' : '--:'));
  return [head!, rule, ...lines].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
