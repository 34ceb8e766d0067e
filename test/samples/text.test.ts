import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { addressFromUrl } from '../../src/samples/address.ts';
import {
  asksFor,
  firstWord,
  laneOf,
  literal,
  rawInsert,
} from '../../src/samples/engine/statement.ts';
import { joinRows } from '../../src/samples/window.ts';

describe('rows become an array', () => {
  const chunked = (text: string, sizes: readonly number[]) => {
    const bytes = Buffer.from(text);
    const chunks: Buffer[] = [];
    let at = 0;
    for (let i = 0; at < bytes.length; i++) {
      const size = sizes[i % sizes.length] ?? 1;
      chunks.push(bytes.subarray(at, at + size));
      at += size;
    }
    return chunks;
  };

  test('of the first rows up to the limit, however the bytes were cut', () => {
    const objects = fc.array(fc.record({ a: fc.string({ unit: 'binary' }), b: fc.nat() }));
    const sizes = fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1 });
    fc.assert(
      fc.property(objects, sizes, fc.integer({ min: 1, max: 12 }), (rows, cuts, limit) => {
        const text = rows.map((row) => `${JSON.stringify(row)}\n`).join('');
        const answer = joinRows(chunked(text, cuts), limit);
        expect(answer.json.toString()).toBe(JSON.stringify(rows.slice(0, limit)));
        expect(answer.count).toBe(Math.min(rows.length, limit));
        expect(answer.truncated).toBe(rows.length > limit);
        const around = { before: '<é', after: (cut: boolean) => `${cut}>` };
        const within = joinRows(chunked(text, cuts), limit, around);
        expect(within.json.toString()).toBe(`<é${answer.json}${rows.length > limit}>`);
      }),
    );
  });
});

describe('a ClickHouse URL', () => {
  test('gives server, user, password and database', () => {
    const address = addressFromUrl('http://me:p%40ss@db.example:8123/metrics');
    expect(address).toEqual({
      ...{ url: 'http://db.example:8123', username: 'me', password: 'p@ss' },
      database: 'metrics',
    });
  });

  test('has defaults for what it leaves out', () => {
    const { username, password, database } = addressFromUrl('https://db.example');
    expect([username, password, database]).toEqual(['default', '', 'weir']);
  });

  test('names a cluster', () => {
    expect(addressFromUrl('http://db.example/m?cluster=two-by-2')).toMatchObject({
      ...{ url: 'http://db.example', database: 'm', cluster: 'two-by-2' },
    });
    expect(addressFromUrl('http://db.example/m')).not.toHaveProperty('cluster');
    for (const query of ['cluster=', "cluster=a'b", 'clustre=a', 'cluster=a&user=secret']) {
      expect(() => addressFromUrl(`http://u:secret@h/m?${query}`)).toThrow(
        /^a ClickHouse [a-z, ]+$/i,
      );
    }
  });

  test.each(['', 'db.example:8123', 'postgres://u:secret@h/d', 'http://u:secret@h/a-b', '/x'])(
    '%j is refused, without showing it',
    (text) => {
      expect(() => addressFromUrl(text)).toThrow(/^a ClickHouse (URL|database)/);
      expect(() => addressFromUrl(text)).not.toThrow(/secret/);
    },
  );
});

describe('statements', () => {
  test.each([
    ['SELECT 1', 'read'],
    ['  -- note\n /* SELECT */ with 1 AS x SELECT x', 'read'],
    ['SHOW TABLES', 'read'],
    ['ALTER TABLE t ADD COLUMN c UInt8', 'maintenance'],
    ['INSERT INTO t SELECT * FROM u', 'maintenance'],
    ['', 'maintenance'],
  ])('%j runs in lane %s', (sql, lane) => {
    expect(laneOf(sql)).toBe(lane);
  });

  test('the first word is found behind comments', () => {
    expect(firstWord('/* SET */ -- USE\n\tset x = 1')).toBe('SET');
  });

  test.each([
    ['INSERT INTO t FORMAT CSV', { table: 't', columns: undefined, format: 'CSV' }],
    [
      'insert into `db`.`t` (`a`, b)\nformat TabSeparated;\n',
      { table: 'db.t', columns: ['a', 'b'], format: 'TabSeparated' },
    ],
    ['INSERT INTO t SELECT 1', null],
    ['INSERT INTO t VALUES (1)', null],
    ["SELECT 'INSERT INTO t FORMAT CSV'", null],
  ])('%j as an insert with a body is %j', (sql, expected) => {
    expect(rawInsert(sql)).toEqual(expected);
  });

  test('a literal never ends before its end', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const inner = literal(text).slice(1, -1);
        expect(inner.replace(/\\./gs, '')).not.toMatch(/['\\]/);
      }),
    );
  });

  test('a parameter is asked for by its whole name', () => {
    expect(asksFor('SELECT { id : UUID }', 'id')).toBe(true);
    expect(asksFor('SELECT {idx:UUID}, {x:Map(id, Int8)}', 'id')).toBe(false);
  });
});
