import { type Kysely, sql } from 'kysely';
import { systemClock } from '../std/clock.ts';
import { CatalogRefusal } from './catalog.ts';
import type { CatalogDialect } from './dialect.ts';
import { type Migration, migrations } from './migrations/list.ts';
import type { Schema } from './schema.ts';

/**
 * Brings the schema up to date: all missing migrations in one transaction, under a lock. Several
 * processes may start at once; one does the work, the others find it done.
 *
 * Kysely's own migrator makes its tables before it takes its lock, and processes that start at
 * once collide there.
 *
 * @param list the program's migrations, in order
 * @throws CatalogRefusal `schema_newer` when a newer program has migrated this catalog already
 */
export async function migrate(
  db: Kysely<Schema>,
  dialect: CatalogDialect,
  list: readonly Migration[] = migrations,
): Promise<void> {
  await db.transaction().execute(async (trx) => {
    await dialect.lockMigrations(trx);
    await trx.schema
      .createTable('catalog_migrations')
      .ifNotExists()
      .addColumn('number', dialect.types.int, (c) => c.notNull().primaryKey())
      .addColumn('name', dialect.types.text, (c) => c.notNull())
      .addColumn('applied_at', dialect.types.int, (c) => c.notNull())
      .modifyEnd(dialect.tableEnd.plain)
      .execute();
    const { done } = await trx
      .selectFrom('catalog_migrations')
      .select(sql<number>`coalesce(max(number), 0)`.as('done'))
      .executeTakeFirstOrThrow();
    if (done > list.length) {
      const message =
        `The catalog has schema ${done}, this program knows ${list.length}: ` +
        'a newer weir has used it. Start that version or a later one.';
      throw new CatalogRefusal('schema_newer', message);
    }
    for (let number = done + 1; number <= list.length; number++) {
      const step = list[number - 1]!;
      await step.up(trx, dialect);
      await trx
        .insertInto('catalog_migrations')
        .values({ number, name: step.name, applied_at: systemClock() })
        .execute();
    }
  });
}
