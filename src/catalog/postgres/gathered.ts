import { limits } from '../../domain/limits.ts';
import { Gather } from '../../std/gather.ts';
import { CatalogAway } from '../catalog.ts';

/** Questions that share one query at most, and how long a slow one holds up the next. */
const gather = {
  groupMax: 1_000,
  overtake: { afterMs: 100, groupsMax: 3 },
  waitingMax: limits.catalogCallsMax,
  refuse: () => new CatalogAway('too many look-ups wait for the catalog'),
};

/**
 * Answers questions that come at the same time by one query: the first leaves with what comes in
 * the same turn of the event loop, the next ones together when it has returned. Nothing is kept: an
 * answer is read after it was asked for, so what anybody committed before is in it.
 *
 * @param read the answers in the order of the questions
 */
export function gathered<Q, A>(
  read: (questions: readonly Q[]) => Promise<readonly A[]>,
): (question: Q) => Promise<A> {
  const group = new Gather<Q, A>(read, gather);
  return (question) => group.add(question);
}
