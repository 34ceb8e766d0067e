import { randomUUID } from 'node:crypto';
import { rejectionColumns } from '../domain/rejection-row.ts';
import { sampleColumns } from '../domain/sample-row.ts';
import { reach } from './client.ts';
import { insertRows, numberOf, type Place } from './insert-rows.ts';
import type { Layout } from './layout.ts';
import { derivedTables, engineOf, fillRejections, fillSamples, spreadOf } from './migrations.ts';
import type { FreshSamples, StandingGeneration } from './proof.ts';
import type { EncodedRows } from './samples.ts';

/** Beside every table that is derived, a build has one with this ending. */
const ending = '_fresh';

type SamplesView = readonly [view: string, table: string, inbox: string];

/** From the inboxes of all processes to the fresh set; rejections have one of their own. */
const ofEverybody: readonly SamplesView[] = [
  [`fill_samples${ending}`, `samples${ending}`, 'sample_inbox'],
  [`fill_sample_versions${ending}`, `sample_versions${ending}`, 'sample_inbox'],
  [`fill_reparsed_versions${ending}`, `sample_versions${ending}`, 'version_inbox'],
];
const rejectionsView = [`fill_rejections${ending}`, `rejections${ending}`] as const;

/** From the build's own inbox. */
const inbox = 'rebuild_inbox';
const ofBuild: readonly SamplesView[] = [
  [`rebuild_samples${ending}`, `samples${ending}`, inbox],
  [`rebuild_sample_versions${ending}`, `sample_versions${ending}`, inbox],
];

/** Artifacts by the generation that stands: rejections do not know their source. */
const standingArtifacts = `standing_artifacts${ending}`;

/**
 * The statements that make the set, tables first. Tables are as this program makes them: those in
 * use may be of an earlier one.
 *
 * @param set tells these tables from those of every other build
 */
export function freshStatements(at: Layout, set: string): readonly string[] {
  const { held, everywhere } = at;
  return [
    ...derivedTables.flatMap((table) => [
      `CREATE TABLE ${held(`${table}${ending}`)}${everywhere} AS ${held(table)}
       ${engineOf(at, table, set)}`,
      ...spreadOf(at, table, `${table}${ending}`),
    ]),
    `CREATE TABLE ${held(inbox)}${everywhere} AS ${held('sample_inbox')}`,
    ...at.spread(inbox, 'source_id'),
    `CREATE TABLE ${held(standingArtifacts)}${everywhere} (artifact_id UUID, generation UInt32)
     ENGINE = ${at.engine(standingArtifacts, { family: '' }, set)} ORDER BY artifact_id`,
    ...at.spread(standingArtifacts, 'artifact_id'),
    ...[...ofBuild, ...ofEverybody].map((view) => fillSamples(at, view)),
    fillRejections(at, rejectionsView),
  ];
}

/** The statements that take away whatever there is of a set; views first. */
export function dropStatements({ named, all, everywhere }: Layout): readonly string[] {
  const views = [...ofEverybody, rejectionsView, ...ofBuild].map(([view]) => view);
  const made = derivedTables.map((table) => `${table}${ending}`);
  return [
    ...views.map((view) => `DROP VIEW IF EXISTS ${named(view)}${everywhere} SYNC`),
    // A server refuses to drop large tables that nobody said this of.
    ...[inbox, ...made, standingArtifacts].flatMap(all).map(
      (table) => `DROP TABLE IF EXISTS ${table}${everywhere} SYNC
        SETTINGS max_table_size_to_drop = 0`,
    ),
  ];
}

/** The statement that puts the set in the place of the one in use. */
export function swapStatement({ held, everywhere }: Layout): string {
  const pairs = derivedTables.map((table) => `${held(table)} AND ${held(`${table}${ending}`)}`);
  return `EXCHANGE TABLES ${pairs.join(', ')}${everywhere}`;
}

/**
 * The fresh set of tables (`proof.ts`).
 *
 * Ordering. A view comes after the table that it fills and goes before it: an insert into an inbox
 * fails while a view on it has no table. All views are there before the first delivery is parsed,
 * so what is complete in the catalog by then is found there, and all else is inserted to both sets.
 *
 * On a cluster each statement is run by all nodes before it answers, and by each in their order. A
 * node that goes away meanwhile exchanges when it is back; until then, and if ever one exchanged
 * twice, nothing is made, exchanged or dropped.
 *
 * The swap exchanges names. Views go by the names of their tables, so those that filled the old
 * table fill the new one then, and the other way round: both sets stay complete, table by table,
 * wherever a process dies. Only an insert that looks up its tables in that very moment, one before
 * and one after the exchange, can miss the new one; the rebuild inserts such deliveries again.
 */
export function freshSamples(place: Place): FreshSamples {
  const { client, at } = place;
  const run = async (queries: readonly string[]) => {
    for (const query of queries) await reach(() => client.command({ query }));
  };

  const agreed = async () => {
    if (at.disagreeing === null || (await numberOf(client, at.disagreeing)) === 0) return;
    throw new Error(
      'the ClickHouse nodes have not all exchanged the tables of a rebuild: on those that differ' +
        ' exchange each TABLE_local and TABLE_fresh_local',
    );
  };
  return {
    async begin() {
      await agreed();
      await run([...dropStatements(at), ...freshStatements(at, randomUUID())]);
    },

    async insert({ samples, reparsed = [], rejections }: EncodedRows) {
      await insertRows(place, inbox, sampleColumns, samples);
      await insertRows(place, `sample_versions${ending}`, sampleColumns, reparsed);
      await insertRows(place, `rejections${ending}`, rejectionColumns, rejections);
    },

    async noteGenerations(standing) {
      if (standing.length === 0) return;
      await insertRows(
        place,
        `delivery_generations${ending}`,
        ['source_id', 'sequence', 'generation'],
        [lines(standing, (one) => [one.sourceId, one.sequence, one.generation])],
      );
      await insertRows(
        place,
        standingArtifacts,
        ['artifact_id', 'generation'],
        [lines(standing, (one) => [one.artifactId, one.generation])],
      );
    },

    async swap() {
      await agreed();
      await run([swapStatement(at)]);
    },

    async drop() {
      await agreed();
      await run(dropStatements(at));
    },

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
