import { useCallback, useRef, useState } from 'preact/hooks';
import { Refused } from './api.ts';

export interface Act {
  /** Under way: a second press does nothing. */
  readonly busy: boolean;
  /** Of the last try; none while another is under way. */
  readonly error: Error | null;
  run(): Promise<void>;
  /** For a form. */
  submit(event: Event): void;
}

/** Something that a button does: once at a time, and what went wrong is kept to be shown. */
export function useAct(work: () => Promise<void>): Act {
  const [state, setState] = useState<{ busy: boolean; error: Error | null }>(still);
  const latest = useRef(work);
  latest.current = work;
  const busy = useRef(false);
  const run = useCallback(async () => {
    if (busy.current) return;
    busy.current = true;
    setState({ busy: true, error: null });
    try {
      await latest.current();
      setState(still);
    } catch (error) {
      setState({ busy: false, error: error instanceof Refused ? error : unreachable(error) });
    } finally {
      busy.current = false;
    }
  }, []);
  const submit = useCallback(
    (event: Event) => {
      event.preventDefault();
      void run();
    },
    [run],
  );
  return { ...state, run, submit };
}

const still = { busy: false, error: null };

function unreachable(cause: unknown): Error {
  return new Error('The service cannot be reached. Try again.', { cause });
}
