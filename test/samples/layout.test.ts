import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { forgetStatements } from '../../src/samples/forget.ts';
import { dropStatements, freshStatements, swapStatement } from '../../src/samples/fresh.ts';
import { type Layout, layoutOf, singleLayout } from '../../src/samples/layout.ts';
import { migrationsOf } from '../../src/samples/migrations.ts';
import { versionTable } from '../../src/samples/schema.ts';

const server = { url: 'http://h:8123', username: 'default', password: '', database: 'weir' };
const cluster = layoutOf({ ...server, cluster: 'weir' });

const definitions = (at: Layout) => [
  versionTable(at),
  ...migrationsOf(at).flatMap(({ statements }) => statements),
];

/** Every statement that makes, changes or drops something. */
const changing = (at: Layout) => [
  ...definitions(at),
  ...dropStatements(at),
  ...freshStatements(at, 'another'),
  swapStatement(at),
  ...forgetStatements(at, { sourceId: 's', generation: 2 }).map(({ query }) => query),
];

const oneLine = (text: string) => text.trim().replace(/\s+/g, ' ');

describe('one server', () => {
  test('makes its tables by the statements that made those of every data directory', () => {
    const path = new URL('./single-server.sql', import.meta.url);
    const made = migrationsOf(singleLayout).flatMap(({ version, statements }) => [
      `-- version ${version}`,
      ...statements.map((statement) => `${oneLine(statement)};`),
    ]);
    expect(made).toEqual(readFileSync(path, 'utf8').trim().split('\n'));
  });

  test('knows nothing of clusters, and sets nothing', () => {
    const { settings, writing, copies, sets } = layoutOf(server);
    expect([settings, writing, copies, sets]).toEqual([{}, {}, null, null]);
    expect(changing(singleLayout).join()).not.toMatch(/CLUSTER|Replicated|Distributed|_local/);
  });
});

describe('a cluster', () => {
  test('every statement that makes, changes or drops is run by all nodes', () => {
    expect(changing(cluster).filter((text) => !text.includes(' ON CLUSTER `weir`'))).toEqual([]);
  });

  test('every name says its database: nodes run statements without one', () => {
    // In quotes stand paths in Keeper, and what a Distributed table sends to.
    const texts = changing(cluster).map((text) => text.replaceAll(/'[^']*'/g, ''));
    const table =
      /(\S*)\b(samples|(?:sample|version|rebuild)_\w+|delivery_generations|rejection\w+)/g;
    const prefixes = texts.flatMap((text) => [...text.matchAll(table)].map((match) => match[1]!));
    expect(prefixes.length).toBeGreaterThan(80);
    expect(prefixes.filter((prefix) => prefix !== '`weir`.`')).toEqual([]);
  });

  test('every table that holds rows is replicated, by a path that no other has', () => {
    const made = [...definitions(cluster), ...freshStatements(cluster, 'another')];
    const held = made.filter((text) => /MergeTree/.test(text));
    const paths = held.map((text) => /Replicated\w*MergeTree\('([^']+)', '([^']+)'/.exec(text));
    expect(paths.map((found) => found?.[1])).toHaveLength(1 + 4 + 4 + 1);
    expect(new Set(paths.map((found) => found?.[1])).size).toBe(10);
    for (const [, path, replica] of paths.slice(1).map((found) => found!)) {
      expect([path, replica]).toEqual([expect.stringContaining('/{shard}/'), '{replica}']);
    }
    // The versions are on every node of every shard.
    expect(paths[0]!.slice(1)).toEqual([
      '/clickhouse/weir/weir/all/schema_versions',
      '{shard}-{replica}',
    ]);
  });

  test('samples lie by source, rejections by artifact', () => {
    const made = [...definitions(cluster), ...freshStatements(cluster, 'another')];
    const keys = made.flatMap((text) => {
      const found = /ENGINE = Distributed\('weir', 'weir', '(\w+)_local', (.+)\)$/.exec(
        oneLine(text),
      );
      return found ? [[found[1], found[2]]] : [];
    });
    const bySource = [
      ...['samples', 'sample_versions', 'delivery_generations', 'sample_inbox', 'version_inbox'],
      ...['samples_fresh', 'sample_versions_fresh', 'delivery_generations_fresh', 'rebuild_inbox'],
    ];
    const byArtifact = [
      ...['rejections', 'rejection_inbox', 'rejections_fresh', 'standing_artifacts_fresh'],
    ];
    expect(Object.fromEntries(keys)).toEqual({
      ...Object.fromEntries(bySource.map((table) => [table, 'cityHash64(source_id)'])),
      ...Object.fromEntries(byArtifact.map((table) => [table, 'cityHash64(artifact_id)'])),
    });
  });

  test('rows are deleted where they are held, and gone from every replica', () => {
    for (const { query } of forgetStatements(cluster, { sourceId: 's', generation: 2 })) {
      expect(query).toMatch(/^ALTER TABLE `weir`\.`\w+_local` ON CLUSTER `weir` DELETE WHERE/);
      expect(query).toContain('mutations_sync = 2');
    }
  });

  test('what a rebuild makes, it drops: views first, what is read before what is held', () => {
    const nameOf = (text: string) =>
      /(?:TABLE|VIEW) (?:IF (?:NOT )?EXISTS )?`weir`\.`(\w+)`/.exec(oneLine(text))![1]!;
    const dropped = dropStatements(cluster);
    const made = freshStatements(cluster, 'another');
    expect(dropped.map(nameOf).sort()).toEqual(made.map(nameOf).sort());
    const firstTable = dropped.findIndex((text) => text.startsWith('DROP TABLE'));
    expect(dropped.slice(firstTable).filter((text) => !text.startsWith('DROP TABLE'))).toEqual([]);
    const held = dropped.map(nameOf).indexOf('samples_fresh_local');
    expect(dropped.map(nameOf).indexOf('samples_fresh')).toBeLessThan(held);
  });
});
