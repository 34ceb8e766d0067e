import { assert } from './assert.ts';

/**
 * The boundaries between the steps of a delivery's way. Tests end the process at each of them, as
 * a loss of power would, and look at what a restart makes of it.
 */
export const crashPoints = [
  /** The upload was begun, nothing was sent. */
  'upload_begun',
  /** All bytes are with the store, which shows nothing yet. */
  'bytes_sent',
  /** The object is durable, the catalog knows nothing of it. */
  'object_durable',
  /** Another delivery won the race; the own object is still there. */
  'race_lost',
  /** The receipt is durable, the 202 has not left. */
  'receipt_durable',
  'claimed',
  /** The rows are made, none is inserted. */
  'parsed',
  /** The rows are readable, the catalog still says `parsing`. */
  'inserted',
  'completed',
] as const;

/** Those on the way of a delivery that is parsed again. */
export const reparseCrashPoints = [
  /** The rows of the next generation are durable, none is readable. */
  'generation_inserted',
  /** The samples are those of the next generation, the catalog still waits for it. */
  'settled',
] as const;

/** Those of a rebuild. */
export const rebuildCrashPoints = [
  /** The fresh tables are there and every insert fills them, none is built. */
  'fresh_made',
  'fresh_filled',
  /** The fresh tables are in use; what was under way is not caught up with. */
  'swapped',
  /** The old tables are still there. */
  'caught_up',
] as const;

const allCrashPoints = [...crashPoints, ...reparseCrashPoints, ...rebuildCrashPoints] as const;

export type CrashPoint = (typeof allCrashPoints)[number];

let armed: CrashPoint | null = null;
let passagesLeft = 0;

/**
 * Makes a crash point deadly; for tests only (`WEIR_CRASH_AT`). Unarmed points do nothing.
 *
 * @param text `name`, or `name:n` for the n-th passage
 */
export function armCrashPoint(text: string): void {
  const { point, passage } = readCrashPoint(text) ?? {};
  assert(point !== undefined && passage !== undefined, 'a crash point is name or name:n');
  armed = point;
  passagesLeft = passage;
}

/** @returns null when the text names no crash point */
export function readCrashPoint(text: string): { point: CrashPoint; passage: number } | null {
  const [, name, passage = '1'] = /^([a-z_]+)(?::([1-9][0-9]{0,5}))?$/.exec(text) ?? [];
  const point = allCrashPoints.find((one) => one === name);
  return point === undefined ? null : { point, passage: Number(passage) };
}

/** Ends the process by SIGKILL here, when this point is armed. */
export function crashPoint(point: CrashPoint): void {
  if (point !== armed) return;
  passagesLeft -= 1;
  if (passagesLeft === 0) process.kill(process.pid, 'SIGKILL');
}
