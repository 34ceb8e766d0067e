import { afterAll, beforeAll } from 'vitest';
import { openCatalog } from '../../src/catalog/open.ts';
import { catalogContract } from '../contract/catalog.ts';
import { describeWith } from '../support/need.ts';
import { type Postgres, postgresOrSkip, startPostgres } from '../support/postgres.ts';

describeWith('Postgres', await postgresOrSkip(), (bin) => {
  let server: Postgres;
  beforeAll(async () => {
    server = await startPostgres(bin);
  });
  afterAll(() => server.stop());

  catalogContract('Postgres', async () => {
    const url = await server.database();
    return { open: () => openCatalog(url, { thread: true }), remove: async () => {} };
  });
});
