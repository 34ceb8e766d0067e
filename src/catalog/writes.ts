import type { AuditWrites } from './audit.ts';
import type { Claim, KnownDelivery, Probe, Queue, Reparses, Verdict } from './catalog.ts';
import type { FiguresWrites } from './company-figures.ts';
import type { DirectoryWrites } from './directory.ts';
import type { Failure } from './failures.ts';
import type { UpkeepWrites } from './upkeep.ts';
import type { UsersWrites } from './users.ts';

/**
 * Everything that changes the catalog, as one map of calls: served in this thread or in another.
 * The whole queue is here: counting a long backlog takes longer than an event loop may stand.
 * Arguments and answers are plain values that may cross between threads; errors that concern one
 * entry of a group cross as data.
 */
export interface Writes {
  readonly directory: DirectoryWrites;
  readonly ledger: LedgerWrites;
  readonly queue: Queue;
  readonly reparses: Reparses;
  readonly audit: AuditWrites;
  readonly upkeep: UpkeepWrites;
  readonly figures: FiguresWrites;
  readonly users: UsersWrites;
}

export interface LedgerWrites {
  /** One durable transaction; the answers are in the order of the entries. */
  commit(entries: readonly LedgerEntry[]): Promise<LedgerAnswer[]>;
}

/** Hashes are hex here: a `Buffer` that crosses takes the whole pool it is cut from along. */
type Plain<T> = Omit<T, 'sha256'> & { readonly sha256: string };

export type PlainProbe = Plain<Probe>;
export type PlainClaim = Plain<Claim>;

export type LedgerEntry =
  | { readonly kind: 'record'; readonly claim: PlainClaim }
  | { readonly kind: 'replay'; readonly probe: PlainProbe; readonly now: number };

export type LedgerAnswer =
  | { readonly kind: 'record'; readonly verdict: Verdict }
  | { readonly kind: 'replay'; readonly known: KnownDelivery | null }
  | { readonly kind: 'failed'; readonly failure: Failure };

type Area = keyof Writes;
type Method<A extends Area> = keyof Writes[A];
// biome-ignore lint/suspicious/noExplicitAny: the one way to say "any function" to the compiler
type Fn<T> = T extends (...args: any[]) => any ? T : never;

/** One call by its name; `Parameters` and `ReturnType` of `Writes` say the rest. */
export type Call = {
  [A in Area]: {
    [M in Method<A>]: {
      readonly area: A;
      readonly method: M;
      readonly args: Parameters<Fn<Writes[A][M]>>;
    };
  }[Method<A>];
}[Area];

const names: { [A in Area]: Record<Method<A>, true> } = {
  directory: {
    createCompany: true,
    declareMetric: true,
    createSource: true,
    saveSource: true,
    createKey: true,
    revokeKey: true,
    rotateKey: true,
    noteUses: true,
    rotateSecret: true,
  },
  ledger: { commit: true },
  queue: {
    claim: true,
    extend: true,
    complete: true,
    release: true,
    crashed: true,
    backlog: true,
  },
  reparses: {
    begin: true,
    takeTurn: true,
    extendTurn: true,
    endTurn: true,
    toForget: true,
    forgotten: true,
  },
  audit: { note: true },
  upkeep: { raiseSequence: true, nextToCheck: true, noteChecks: true },
  figures: { noteCheck: true },
  users: {
    invite: true,
    remove: true,
    acceptInvitation: true,
    notePasskeyUse: true,
    putChallenge: true,
    takeChallenge: true,
    startSession: true,
    noteSignIn: true,
    endSession: true,
  },
};

/** Serves one call; the answer is that of the method. */
export function serveCall(writes: Writes, call: Call): Promise<unknown> {
  const area = writes[call.area] as unknown as Record<
    string,
    (...args: readonly unknown[]) => Promise<unknown>
  >;
  return area[call.method]!(...call.args);
}

/** @returns `Writes` whose every method goes through `send` */
export function writesThrough(send: (call: Call) => Promise<unknown>): Writes {
  const areas = Object.entries(names).map(([area, methods]) => {
    const calls = Object.keys(methods).map((method) => [
      method,
      (...args: unknown[]) => send({ area, method, args } as unknown as Call),
    ]);
    return [area, Object.fromEntries(calls)];
  });
  return Object.fromEntries(areas) as Writes;
}
