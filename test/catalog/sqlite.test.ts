import { openCatalog } from '../../src/catalog/open.ts';
import { catalogContract } from '../contract/catalog.ts';
import { tempCatalog } from './support.ts';

for (const thread of [false, true]) {
  catalogContract(thread ? 'SQLite on its thread' : 'SQLite in process', async () => {
    const { url, remove } = await tempCatalog();
    return { open: () => openCatalog(url, { thread }), remove };
  });
}
