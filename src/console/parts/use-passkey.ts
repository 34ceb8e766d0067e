import { useRef, useState } from 'preact/hooks';
import { passkeyProblem } from '../passkeys.ts';

/** Something that is done with a passkey, when a button is pressed. */
export interface PasskeyAct {
  readonly busy: boolean;
  /** Of the last time; null: none. */
  readonly problem: string | null;
  start(): Promise<void>;
}

/** @param act what is done; what it throws is shown, and it can be tried again */
export function usePasskey(act: () => Promise<void>): PasskeyAct {
  const [busy, setBusy] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const underWay = useRef(false);
  const start = async () => {
    if (underWay.current) return;
    underWay.current = true;
    setBusy(true);
    setProblem(null);
    try {
      await act();
    } catch (error) {
      setProblem(passkeyProblem(error));
    } finally {
      underWay.current = false;
      setBusy(false);
    }
  };
  return { busy, problem, start };
}
