import Sqlite from 'better-sqlite3';
import { expect, it } from 'vitest';
import { openCatalog } from '../../src/catalog/open.ts';
import type { Challenge } from '../../src/catalog/users-contract.ts';
import { limits } from '../../src/domain/limits.ts';
import { tempCatalog } from './support.ts';

it('so many challenges are kept, the newest', async () => {
  const place = await tempCatalog();
  const { users, close } = await openCatalog(place.url, { thread: false });
  await users.putChallenge(challenge('first'), 1_000);
  await users.putChallenge(challenge('second'), 1_000);
  // As if all between them and the next one had been made: the ids go on from the highest.
  const db = new Sqlite(place.path);
  db.prepare(`insert into challenges (id, challenge, purpose, ends_at) values (?, ?, ?, ?)`).run(
    ...[limits.challengesMax, 'before', 'sign in', 9_000],
  );
  await users.putChallenge(challenge('last'), 1_000);
  const left = db.prepare('select challenge from challenges order by id').pluck().all();
  expect(left).toEqual(['second', 'before', 'last']);
  await users.putChallenge(challenge('later'), 9_000);
  expect(db.prepare('select challenge from challenges').pluck().all()).toEqual(['later']);
  db.close();
  await close();
  await place.remove();
});

function challenge(text: string): Challenge {
  return {
    challenge: text,
    purpose: 'sign in',
    userId: null,
    endsAt: text === 'later' ? 1e5 : 9e3,
  };
}
