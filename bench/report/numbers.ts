import type { Goal } from '../case.ts';

/** A figure with three digits that say something: 1234, 123, 12.3, 1.23, 0.12. */
export function figure(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return value.toFixed(0);
  if (size >= 10) return value.toFixed(1);
  return value.toFixed(2);
}

/** `≥ 0.85`, `≤ 100 MiB`. */
export function goalText(goal: Goal, unit: string): string {
  const sign = goal.bound === 'at least' ? '≥' : '≤';
  return `${sign} ${figure(goal.value)}${goal.of === 'ours' ? ` ${unit}` : ''}`;
}
