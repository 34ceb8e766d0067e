import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Refused } from './api.ts';

export interface Read<T> {
  /** Null until the first answer; what was there stays while the next is asked for. */
  readonly data: T | null;
  /** Of the last read. */
  readonly error: Refused | null;
  /** Asks again, now. */
  again(): void;
}

/**
 * Reads now, whenever `name` changes, and every `everyMs` while the page is seen and no read is
 * under way: a service that is slower than that is waited for.
 *
 * @param name everything that shapes the answer: an answer under an older name is passed over
 */
export function useRead<T>(
  name: string,
  read: (signal: AbortSignal) => Promise<T>,
  everyMs?: number,
): Read<T> {
  const [state, setState] = useState<{ data: T | null; error: Refused | null }>(nothing);
  const [turn, setTurn] = useState(0);
  const latest = useRef(read);
  latest.current = read;
  const shown = useRef(name);
  const underWay = useRef(false);
  useEffect(() => {
    const ended = new AbortController();
    if (shown.current !== name) setState(nothing);
    shown.current = name;
    underWay.current = true;
    latest.current(ended.signal).then(
      (data) => {
        if (ended.signal.aborted) return;
        underWay.current = false;
        setState({ data, error: null });
      },
      (error: unknown) => {
        if (ended.signal.aborted) return;
        underWay.current = false;
        const told = error instanceof Refused ? error : unreachable();
        setState((before) => ({ data: before.data, error: told }));
      },
    );
    return () => ended.abort();
  }, [name, turn]);
  useEffect(() => {
    if (everyMs === undefined) return;
    const timer = setInterval(() => {
      const seen = document.visibilityState === 'visible';
      if (seen && !underWay.current) setTurn((before) => before + 1);
    }, everyMs);
    return () => clearInterval(timer);
  }, [everyMs]);
  const again = useCallback(() => setTurn((before) => before + 1), []);
  return { ...state, again };
}

const nothing = { data: null, error: null };

function unreachable(): Refused {
  return new Refused(0, { code: 'unreachable', message: 'The service cannot be reached.' });
}
