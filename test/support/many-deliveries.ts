import Sqlite from 'better-sqlite3';

/**
 * Writes deliveries of a source into a catalog's file, 6 ms apart and received up to `now`: one of
 * 89 rejected, of 83 sandbox, of 1,009 with a conflict. Their artifacts are nowhere.
 *
 * @param waiting one of 97 waits to be parsed; not beside a service, which would try
 */
export function writeManyDeliveries(
  file: string,
  spec: { sourceId: string; many: number; now: number; waiting: boolean },
): void {
  const { many, now, waiting } = spec;
  const uuid = spec.sourceId.replaceAll('-', '');
  const source = `(select id from sources where uuid = x'${uuid}')`;
  const waits = waiting ? 'i % 97 = 0' : 'false';
  const db = new Sqlite(file, { timeout: 10_000 });
  db.exec(`begin immediate;
    with recursive n(i) as (select 1 union all select i + 1 from n where i < ${many})
    insert into deliveries (artifact_id, source_id, sandbox, receipt_shape_version,
      shape_version, generation, sha256, bytes, delivery, media_type, encoding, received_at,
      object, object_offset, object_length, status, due_at, failures, crashes, settled_at,
      records, parsed, rejected, samples, blank, superseded_within)
    select randomblob(16), ${source}, i % 83 = 0, 1, 1, 0, randomblob(32),
      100, 'push', 'application/json', 'identity', ${now - 6 * many} + i * 6, 'o' || i, 0, 100,
      case when ${waits} then 'queued' when i % 89 = 0 then 'rejected' else 'parsed' end,
      0, 0, 0, case when ${waits} then null else ${now} end,
      1, i % 89 <> 0, i % 89 = 0, 1, 0, 0 from n;
    insert into delivery_keys (source_id, sandbox, key, sequence, ordinal, named_at)
    select source_id, sandbox, 'key-' || sequence, sequence, 0, received_at from deliveries
      where object like 'o%';
    insert into delivery_conflicts (sequence, key, sha256, at, source_id, received_at)
    select sequence, 'k', randomblob(32), 1, source_id, received_at from deliveries
      where object like 'o%' and sequence % 1009 = 0;
    commit;`);
  db.close();
}
