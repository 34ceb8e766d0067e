import { Gather } from '../../std/gather.ts';

/**
 * Answers questions that come at the same time by one query: the first leaves with what comes in
 * the same turn of the event loop, the next ones while it is under way together after it. Nothing
 * is kept: an answer was read after it was asked for, so what anybody committed before is in it.
 *
 * @param read the rows of all names; each answer's name is among them at most once
 */
export function gathered<A>(
  read: (names: readonly string[]) => Promise<ReadonlyMap<string, A>>,
): (name: string) => Promise<A | null> {
  const group = new Gather<string, A | null>(
    async (names) => {
      const answers = await read([...new Set(names)]);
      return names.map((name) => answers.get(name) ?? null);
    },
    { groupMax: 1_000 },
  );
  return (name) => group.add(name);
}
