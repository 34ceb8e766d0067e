import { useRef } from 'preact/hooks';
import type { Read } from '../use-read.ts';

/**
 * What was read before stays until another answer comes, so that a page does not jump while it is
 * asked for. Where the answer is a refusal nothing is shown that it would not be about.
 */
export function useKept<T>({ data, error }: Pick<Read<T>, 'data' | 'error'>): T | null {
  const kept = useRef<T | null>(null);
  kept.current = data ?? (error === null ? kept.current : null);
  return kept.current;
}
