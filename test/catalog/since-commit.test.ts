import Sqlite from 'better-sqlite3';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { connectReader } from '../../src/catalog/sqlite/connect.ts';
import { SinceCommit } from '../../src/catalog/sqlite/since-commit.ts';
import { tempCatalog } from './support.ts';

let place: Awaited<ReturnType<typeof tempCatalog>>;
let writer: Sqlite.Database;
let reader: Sqlite.Database;
let asked: number;
let answers: SinceCommit;

beforeEach(async () => {
  place = await tempCatalog();
  writer = new Sqlite(place.path);
  writer.pragma('journal_mode = WAL');
  writer.exec('create table numbers (n integer); insert into numbers values (1)');
  reader = connectReader(place.path);
  asked = 0;
  answers = new SinceCommit(reader);
});
afterEach(async () => {
  reader.close();
  writer.close();
  await place.remove();
});

const ask = () =>
  answers.answer('n', async () => {
    asked += 1;
    return reader.prepare('select n from numbers').pluck().get();
  });

test('an answer stands until anybody commits, and not for a moment longer', async () => {
  for (let i = 0; i < 3; i++) expect(await ask()).toBe(1);
  expect(asked).toBe(1);
  writer.exec('update numbers set n = 2');
  for (let i = 0; i < 3; i++) expect(await ask()).toBe(2);
  expect(asked).toBe(2);
  const other = new Sqlite(place.path);
  other.exec('update numbers set n = 3');
  other.close();
  expect(await ask()).toBe(3);
});

test('that there is none is an answer, too', async () => {
  const none = () =>
    answers.answer('none', async () => {
      asked += 1;
      return null;
    });
  expect([await none(), await none()]).toEqual([null, null]);
  expect(asked).toBe(1);
});

test('what was read while somebody committed is not kept', async () => {
  const read = await answers.answer('n', async () => {
    writer.exec('update numbers set n = 2');
    return reader.prepare('select n from numbers').pluck().get();
  });
  expect(read).toBe(2);
  writer.exec('update numbers set n = 4');
  expect(await ask()).toBe(4);
});
