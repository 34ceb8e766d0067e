import { type ComponentChildren, createContext } from 'preact';
import { useCallback, useContext, useState } from 'preact/hooks';
import type { AnswerOf } from '../domain/api/app/endpoint.ts';
import type { readSession } from '../domain/api/app/session.ts';
import { get } from './api.ts';
import { useRead } from './use-read.ts';

export type Session = AnswerOf<typeof readSession>;

interface SessionState {
  /** Undefined: not known yet. Null: nobody is signed in. */
  readonly session: Session | null | undefined;
  /** Why it is not known. */
  readonly error: Error | null;
  /** Asks the service again who is signed in. */
  refresh(): void;
  /** What is known now, without asking. */
  set(session: Session | null): void;
}

const Context = createContext<SessionState>({
  session: undefined,
  error: null,
  refresh: () => {},
  set: () => {},
});

export function SessionProvider({ children }: { children: ComponentChildren }) {
  const [set, setSet] = useState<Session | null | undefined>(undefined);
  const { data, error, again } = useRead('session', (signal) =>
    get<typeof readSession>('/app/api/session', {}, signal),
  );
  const refresh = useCallback(() => {
    setSet(undefined);
    again();
  }, [again]);
  const asked = error?.code === 'sign_in_needed' ? null : (data ?? undefined);
  const session = set === undefined ? asked : set;
  const state = { session, error: session === undefined ? error : null, refresh, set: setSet };
  return <Context.Provider value={state}>{children}</Context.Provider>;
}

export function useSession(): SessionState {
  return useContext(Context);
}

/** Who is signed in, on pages that are shown to nobody else. */
export function useSignedIn(): Session {
  return useSession().session!;
}

export function mayManage({ user }: Session): boolean {
  return user.permissions.includes('sources.manage');
}
