import { EngineError } from './errors.ts';
import { EngineSession } from './session.ts';
import type { Lane } from './statement.ts';

export interface PoolOptions {
  readonly store: string;
  readonly args: readonly string[];
}

/** Sessions of each lane, and how many seconds a statement there may run unless it says more. */
const lanes: Readonly<Record<Lane, { sessions: number; seconds: number }>> = {
  read: { sessions: 4, seconds: 60 },
  write: { sessions: 1, seconds: 120 },
  maintenance: { sessions: 1, seconds: 3_600 },
};

/** Requests that may wait for a session of one lane. */
const waitingMax = 1_000;

interface LaneState {
  readonly free: EngineSession[];
  readonly waiting: ((session: EngineSession) => void)[];
}

/**
 * The native sessions on one store. A session is one queue and answers in order, so each request
 * leases one for itself; who finds none free waits in turn.
 */
export class SessionPool {
  readonly #lanes: Readonly<Record<Lane, LaneState>>;

  private constructor(state: Readonly<Record<Lane, LaneState>>) {
    this.#lanes = state;
  }

  static async open({ store, args }: PoolOptions): Promise<SessionPool> {
    const open = async (lane: Lane): Promise<LaneState> => {
      const free: EngineSession[] = [];
      for (let n = 0; n < lanes[lane].sessions; n++) {
        free.push(await EngineSession.open(store, args, lanes[lane].seconds));
      }
      return { free, waiting: [] };
    };
    return new SessionPool({
      read: await open('read'),
      write: await open('write'),
      maintenance: await open('maintenance'),
    });
  }

  /** @throws EngineError 202 when too many wait already */
  async use<T>(lane: Lane, work: (session: EngineSession) => Promise<T>): Promise<T> {
    const state = this.#lanes[lane];
    const session = await this.#lease(state);
    try {
      return await work(session);
    } finally {
      const next = state.waiting.shift();
      if (next === undefined) state.free.push(session);
      else next(session);
    }
  }

  #lease(state: LaneState): Promise<EngineSession> {
    const session = state.free.pop();
    if (session !== undefined) return Promise.resolve(session);
    if (state.waiting.length >= waitingMax) {
      const message = `${waitingMax} statements are waiting already`;
      throw new EngineError(202, 'TOO_MANY_SIMULTANEOUS_QUERIES', message);
    }
    return new Promise((resolve) => state.waiting.push(resolve));
  }
}
