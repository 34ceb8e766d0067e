import { type Ask, bothSets, differ, digestOf } from './compared-tables.ts';
import type { DifferingRejections } from './proof.ts';

/** Groups of deliveries whose digests are compared first. */
const groups = 1_024;

const standing = `if(artifact_id IN (SELECT artifact_id FROM standing_artifacts_fresh),
  (artifact_id, generation) IN (SELECT artifact_id, generation FROM standing_artifacts_fresh),
  generation = 0)`;

const digest = digestOf(`artifact_id, generation, record, ordinal, line IS NULL, ifNull(line, 0),
  field IS NULL, ifNull(field, ''), code, message`);

/** Deliveries whose rejections differ: by digests of groups, then delivery by delivery. */
export async function differingRejections(ask: Ask, limit: number): Promise<DifferingRejections[]> {
  const group = `sipHash64(artifact_id) % ${groups}`;
  const wrong = await ask<{ grp: string }>(`SELECT grp ${differingBy(group, '1')}`);
  if (wrong.length === 0) return [];
  const within = `${group} IN (${wrong.map(({ grp }) => Number(grp)).join(', ')})`;
  const found = await ask<{ artifactId: string; stored: string; made: string }>(
    `SELECT toString(grp) AS artifactId, sumIf(n, is_stored = 1) AS stored,
       sumIf(n, is_stored = 0) AS made
     ${differingBy('artifact_id', within)} LIMIT {limit:UInt32}`,
    { limit },
  );
  return found.map(({ artifactId, stored, made }) => ({
    artifactId,
    stored: Number(stored),
    made: Number(made),
  }));
}

function differingBy(group: string, where: string): string {
  const side = (ending: string, isStored: 0 | 1) => `
    SELECT ${isStored} AS is_stored, ${group} AS grp, count() AS n, ${digest} AS digest
    FROM rejections${ending} FINAL WHERE ${standing} AND ${where} GROUP BY grp`;
  return `FROM (${bothSets(side)}) GROUP BY grp HAVING ${differ} ORDER BY grp`;
}
