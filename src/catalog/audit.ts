import type { Audit } from './audit-contract.ts';
import type { Db } from './schema.ts';

export type AuditReads = Pick<Audit, 'list'>;
export type AuditWrites = Omit<Audit, keyof AuditReads>;

export function auditReads({ db }: Db): AuditReads {
  return {
    async list(page) {
      let select = db.selectFrom('audit_log').selectAll().orderBy('id', 'desc').limit(page.limit);
      if (page.before !== undefined) select = select.where('id', '<', page.before);
      const rows = await select.execute();
      return rows.map((row) => ({ ...row, about: JSON.parse(row.about) }));
    },
  };
}

export function auditWrites({ db }: Db): AuditWrites {
  return {
    async note({ at, actor, action, about }) {
      const row = { at, actor, action, about: JSON.stringify(about) };
      await db.insertInto('audit_log').values(row).execute();
    },
  };
}
