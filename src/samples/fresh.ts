import type { ClickHouseClient } from '@clickhouse/client';
import { rejectionColumns } from '../domain/rejection-row.ts';
import { sampleColumns } from '../domain/sample-row.ts';
import { reach } from './client.ts';
import { insertRows } from './insert-rows.ts';
import { fillRejections, fillSamples, samplesEngine } from './migrations.ts';
import type { FreshSamples, StandingGeneration } from './proof.ts';
import type { EncodedRows } from './samples.ts';

/** Every table that is derived. Beside each, a build has one with this ending. */
const tables = ['samples', 'sample_versions', 'rejections', 'delivery_generations'] as const;
const ending = '_fresh';

/** From the inboxes of all processes to the fresh set. */
const ofEverybody = [
  fillSamples(`fill_samples${ending}`, `samples${ending}`, 'sample_inbox'),
  fillSamples(`fill_sample_versions${ending}`, `sample_versions${ending}`, 'sample_inbox'),
  fillSamples(`fill_reparsed_versions${ending}`, `sample_versions${ending}`, 'version_inbox'),
  fillRejections(`fill_rejections${ending}`, `rejections${ending}`),
];

/** From the build's own inbox. */
const ofBuild = [
  fillSamples(`rebuild_samples${ending}`, `samples${ending}`, 'rebuild_inbox'),
  fillSamples(`rebuild_sample_versions${ending}`, `sample_versions${ending}`, 'rebuild_inbox'),
];

const views = [...ofEverybody, ...ofBuild].map((view) => /EXISTS (\w+)/.exec(view)![1]!);

/** Artifacts by the generation that stands: rejections do not know their source. */
const standingArtifacts = `standing_artifacts${ending}`;

/** As this program makes them: the table of window reads may be of an earlier one. */
const freshTables = [
  ...tables.map((table) => {
    const engine = table === 'samples' ? samplesEngine : '';
    return `CREATE TABLE ${table}${ending} AS ${table} ${engine}`;
  }),
  'CREATE TABLE rebuild_inbox AS sample_inbox',
  `CREATE TABLE ${standingArtifacts} (artifact_id UUID, generation UInt32)
   ENGINE = MergeTree ORDER BY artifact_id`,
];

/**
 * The fresh set of tables (`proof.ts`).
 *
 * Ordering. A view comes after the table that it fills and goes before it: an insert into an inbox
 * fails while a view on it has no table. All views are there before the first delivery is parsed,
 * so what is complete in the catalog by then is found there, and all else is inserted to both sets.
 *
 * The swap exchanges names. Views go by the names of their tables, so those that filled the old
 * table fill the new one then, and the other way round: both sets stay complete, table by table,
 * wherever a process dies. Only an insert that looks up its tables in that very moment, one before
 * and one after the exchange, can miss the new one; the rebuild inserts such deliveries again.
 */
export function freshSamples(client: ClickHouseClient): FreshSamples {
  const command = (query: string) => reach(() => client.command({ query }));

  async function drop(): Promise<void> {
    for (const view of views) await command(`DROP VIEW IF EXISTS ${view} SYNC`);
    const made = [...tables.map((table) => `${table}${ending}`), standingArtifacts];
    for (const table of ['rebuild_inbox', ...made]) {
      // A server refuses to drop large tables that nobody said this of.
      await command(`DROP TABLE IF EXISTS ${table} SYNC SETTINGS max_table_size_to_drop = 0`);
    }
  }

  return {
    async begin() {
      await drop();
      for (const table of freshTables) await command(table);
      for (const view of [...ofBuild, ...ofEverybody]) await command(view);
    },

    async insert({ samples, reparsed = [], rejections }: EncodedRows) {
      await insertRows(client, 'rebuild_inbox', sampleColumns, samples);
      await insertRows(client, `sample_versions${ending}`, sampleColumns, reparsed);
      await insertRows(client, `rejections${ending}`, rejectionColumns, rejections);
    },

    async noteGenerations(standing) {
      if (standing.length === 0) return;
      await insertRows(
        client,
        `delivery_generations${ending}`,
        ['source_id', 'sequence', 'generation'],
        [lines(standing, (one) => [one.sourceId, one.sequence, one.generation])],
      );
      await insertRows(
        client,
        standingArtifacts,
        ['artifact_id', 'generation'],
        [lines(standing, (one) => [one.artifactId, one.generation])],
      );
    },

    async swap() {
      const pairs = tables.map((table) => `${table} AND ${table}${ending}`);
      await command(`EXCHANGE TABLES ${pairs.join(', ')}`);
    },

    drop,

    async totals() {
      const [found] = await reach(async () => {
        const answer = await client.query({
          query: `SELECT
              (SELECT count() FROM samples${ending} FINAL) AS samples,
              (SELECT count() FROM rejections${ending} FINAL) AS rejections
            SETTINGS max_threads = 1, max_execution_time = 140`,
          format: 'JSONEachRow',
        });
        return await answer.json<{ samples: string; rejections: string }>();
      });
      return { samples: Number(found!.samples), rejections: Number(found!.rejections) };
    },
  };
}

function lines(
  standing: readonly StandingGeneration[],
  columns: (one: StandingGeneration) => (string | number)[],
): Buffer {
  return Buffer.from(standing.map((one) => `${columns(one).join('\t')}\n`).join(''));
}
