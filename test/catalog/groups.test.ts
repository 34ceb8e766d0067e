import { describe, expect, it } from 'vitest';
import { CatalogAway } from '../../src/catalog/catalog.ts';
import { Groups, type Settled } from '../../src/catalog/groups.ts';

type Answer = (answers: Settled<string>[] | Error) => void;

/** Groups whose commits are answered by hand. */
function byHand(most = { group: 3, waiting: 5 }) {
  const sent: string[][] = [];
  const open: Answer[] = [];
  const groups = new Groups<string, string>((entries) => {
    sent.push(entries);
    return new Promise((resolve, reject) => {
      open.push((answers) => (answers instanceof Error ? reject(answers) : resolve(answers)));
    });
  }, most);
  const echo = () => sent.at(-1)!.map((entry) => ({ value: entry.toUpperCase() }));
  return { groups, sent, echo, answer: (answers: Parameters<Answer>[0]) => open.shift()!(answers) };
}

describe('group commit', () => {
  it('sends a lone entry at once and gathers what comes while it is under way', async () => {
    const { groups, sent, echo, answer } = byHand();
    const first = groups.add('a');
    expect(sent).toEqual([['a']]);
    const rest = ['b', 'c', 'd', 'e'].map((entry) => groups.add(entry));
    answer(echo());
    expect(await first).toBe('A');
    expect(sent).toEqual([['a'], ['b', 'c', 'd']]);
    answer(echo());
    expect(await Promise.all(rest.slice(0, 3))).toEqual(['B', 'C', 'D']);
    answer(echo());
    expect(await rest[3]).toBe('E');
    expect(sent.at(-1)).toEqual(['e']);
    await groups.idle();
  });

  it('fails an entry alone, and a whole group with its commit, and goes on', async () => {
    const { groups, echo, answer } = byHand();
    const first = groups.add('a');
    const second = [groups.add('b'), groups.add('c')];
    answer(new CatalogAway('gone'));
    await expect(first).rejects.toBeInstanceOf(CatalogAway);
    answer([{ error: new Error('mine') }, { value: 'ok' }]);
    await expect(second[0]).rejects.toThrow('mine');
    expect(await second[1]).toBe('ok');
    await groups.idle();
    const third = groups.add('d');
    answer(echo());
    expect(await third).toBe('D');
  });

  it('refuses more than may wait with CatalogAway', async () => {
    const { groups, echo, answer } = byHand();
    const kept = ['a', 'b', 'c', 'd', 'e', 'f'].map((entry) => groups.add(entry));
    await expect(groups.add('g')).rejects.toBeInstanceOf(CatalogAway);
    for (let group = 0; group < 3; group++) {
      answer(echo());
      await new Promise(setImmediate);
    }
    expect(await Promise.all(kept)).toEqual(['A', 'B', 'C', 'D', 'E', 'F']);
  });
});
