import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { newSource, seedCompany, seedSource, wideFields } from '../../catalog/support.ts';
import type { Subject } from '../catalog.ts';

const labels = (names: string[]) => ({ key: 'sales', name: 'Sales', unit: 'EUR', labels: names });

export function directoryContract(on: Subject): void {
  describe('companies', () => {
    it('gives back what was created, and null for what was not', async () => {
      const company = { companyId: randomUUID(), name: 'Ümläut 🐟', timezone: 'Asia/Kathmandu' };
      await on.catalog.directory.createCompany(company, 1);
      expect(await on.catalog.directory.company(company.companyId)).toEqual(company);
      expect(await on.catalog.directory.company(randomUUID())).toBeNull();
    });

    it('refuses the same id again, so that a time zone never changes', async () => {
      const company = await seedCompany(on.catalog);
      const again = on.catalog.directory.createCompany({ ...company, timezone: 'UTC' }, 2);
      await expect(again).rejects.toMatchObject({ name: 'CatalogRefusal', code: 'company_exists' });
      expect(await on.catalog.directory.company(company.companyId)).toEqual(company);
    });

    it('refuses a text that is no uuid', async () => {
      const refusal = { name: 'CatalogRefusal', code: 'id_malformed' };
      await expect(on.catalog.directory.company('acme')).rejects.toMatchObject(refusal);
      const made = on.catalog.directory.createCompany(
        { companyId: 'acme', name: 'A', timezone: 'UTC' },
        1,
      );
      await expect(made).rejects.toMatchObject(refusal);
    });
  });

  describe('metrics', () => {
    it('come in the order of their declaration, labels sorted by their bytes', async () => {
      const { companyId } = await seedCompany(on.catalog);
      await on.catalog.directory.declareMetric(companyId, labels(['b', '\u{1f41f}', '\uffee']), 2);
      const metrics = await on.catalog.directory.metrics(companyId);
      expect(metrics.map((metric) => metric.key)).toEqual(['visits', 'sales']);
      expect(metrics[1]!.labels).toEqual(['b', '\uffee', '\u{1f41f}']);
    });

    it('may be renamed by declaring them again with the same labels in any order', async () => {
      const { companyId } = await seedCompany(on.catalog);
      await on.catalog.directory.declareMetric(companyId, labels(['a', 'b']), 2);
      const renamed = { ...labels(['b', 'a']), name: 'Turnover', unit: 'USD' };
      await on.catalog.directory.declareMetric(companyId, renamed, 3);
      const metrics = await on.catalog.directory.metrics(companyId);
      expect(metrics[1]).toEqual({ ...renamed, labels: ['a', 'b'] });
      expect(metrics).toHaveLength(2);
    });

    it('are refused with other labels', async () => {
      const { companyId } = await seedCompany(on.catalog);
      await on.catalog.directory.declareMetric(companyId, labels(['a']), 2);
      const other = on.catalog.directory.declareMetric(companyId, labels(['a', 'b']), 3);
      await expect(other).rejects.toMatchObject({ code: 'metric_labels_differ', field: 'labels' });
      expect((await on.catalog.directory.metrics(companyId))[1]!.labels).toEqual(['a']);
    });

    it('belong to one company, and are refused for one that is not there', async () => {
      const one = await seedCompany(on.catalog);
      const other = await seedCompany(on.catalog);
      await on.catalog.directory.declareMetric(one.companyId, labels(['a']), 2);
      await on.catalog.directory.declareMetric(other.companyId, labels(['b']), 2);
      expect((await on.catalog.directory.metrics(one.companyId))[1]!.labels).toEqual(['a']);
      const lost = on.catalog.directory.declareMetric(randomUUID(), labels([]), 2);
      await expect(lost).rejects.toMatchObject({ code: 'company_not_found' });
    });
  });

  describe('sources', () => {
    it('start at shape version 1', async () => {
      const { companyId } = await seedCompany(on.catalog);
      const made = newSource(companyId, { delivery: 'document', format: 'ndjson' });
      const source = await on.catalog.directory.createSource(made, 7);
      const { sourceId, name } = made;
      const expected = { sourceId, companyId, name, delivery: 'document', shapeVersion: 1 };
      expect(source).toEqual({ ...expected, secretTaken: false, withdrawn: null });
      expect(await on.catalog.directory.source(sourceId)).toEqual(expected);
      expect(await on.catalog.lookup.shape(sourceId, 1)).toEqual({
        version: 1,
        delivery: 'document',
        format: 'ndjson',
        fields: wideFields,
        savedAt: 7,
        savedBy: 'ada@example.com',
      });
    });

    it('keep in a save what it does not name, and every earlier version as it was', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const before = await on.catalog.lookup.shape(sourceId, 1);
      const save = { delivery: 'document', name: undefined, savedBy: 'bob' } as const;
      const saved = await on.catalog.directory.saveSource(sourceId, save, 9);
      expect(saved).toMatchObject({ name: 'Shop', delivery: 'document', shapeVersion: 2 });
      expect(await on.catalog.lookup.shape(sourceId, 2)).toEqual({
        ...before,
        version: 2,
        delivery: 'document',
        savedAt: 9,
        savedBy: 'bob',
      });
      await on.catalog.directory.saveSource(sourceId, { name: 'Store', savedBy: 'bob' }, 10);
      expect(await on.catalog.directory.source(sourceId)).toMatchObject({ name: 'Store' });
      expect(await on.catalog.lookup.shape(sourceId, 1)).toEqual(before);
      expect(await on.catalog.lookup.shape(sourceId, 4)).toBeNull();
    });

    it('number saves that race over two handles without a gap or a double', async () => {
      const { sourceId } = await seedSource(on.catalog);
      const other = await on.another();
      const saves = Array.from({ length: 40 }, (_, i) => {
        const catalog = i % 2 ? other : on.catalog;
        return catalog.directory.saveSource(sourceId, { savedBy: `user ${i}` }, i);
      });
      const versions = (await Promise.all(saves)).map((source) => source.shapeVersion);
      const expected = Array.from({ length: 40 }, (_, i) => i + 2);
      expect(versions.sort((a, b) => a - b)).toEqual(expected);
    });

    it('are refused with a shape that the rules forbid, and nothing stays', async () => {
      const { companyId, sourceId } = await seedSource(on.catalog);
      const fields = [wideFields[0]!, { name: 'x', role: 'value', metric: 'unheard_of' }] as const;
      const bad = newSource(companyId, { fields });
      const refusal = { name: 'CatalogRefusal', code: 'metric_undeclared', field: 'x' };
      await expect(on.catalog.directory.createSource(bad, 1)).rejects.toMatchObject(refusal);
      expect(await on.catalog.directory.source(bad.sourceId)).toBeNull();
      const save = on.catalog.directory.saveSource(sourceId, { fields, savedBy: 'a' }, 1);
      await expect(save).rejects.toMatchObject(refusal);
      expect(await on.catalog.directory.source(sourceId)).toMatchObject({ shapeVersion: 1 });
    });

    it('are refused for an unknown company and with a taken id', async () => {
      const { companyId, sourceId } = await seedSource(on.catalog);
      const { directory } = on.catalog;
      const lost = directory.createSource(newSource(randomUUID()), 1);
      await expect(lost).rejects.toMatchObject({ code: 'company_not_found' });
      const taken = directory.createSource(newSource(companyId, { sourceId }), 1);
      await expect(taken).rejects.toMatchObject({ code: 'source_exists' });
      const save = directory.saveSource(randomUUID(), { savedBy: 'a' }, 1);
      await expect(save).rejects.toMatchObject({ code: 'source_not_found' });
      expect(await directory.source(randomUUID())).toBeNull();
    });
  });
}
