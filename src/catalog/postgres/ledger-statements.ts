import { queuedChannel } from './listen.ts';

/** A group crosses as one JSON array, so that its size changes no statement. */

/**
 * Whom the keys and the bytes of the group $1 lead to. Each entry asks two indexes; `limit` keeps
 * the planner from joining whole tables instead.
 */
const known = `
with asked as (
  select a.i, a.sandbox, a.key, a.sha256, s.id as source
  from json_to_recordset($1::json) as a(
    i bigint, source uuid, sandbox boolean, key text collate "C", sha256 text)
  join sources as s on s.uuid = a.source
), found as (
  select a.i, 'key' as by, k.sequence
  from asked as a cross join lateral (
    select sequence from delivery_keys
    where source_id = a.source and sandbox = a.sandbox and key = a.key limit 1
  ) as k
  union all
  select a.i, 'body', b.sequence
  from asked as a cross join lateral (
    select sequence from delivery_bodies
    where source_id = a.source and sandbox = a.sandbox
      and sha256 = decode(a.sha256, 'hex') limit 1
  ) as b
), known as (
  select f.i, f.by, d.sequence, d.source_id as source, d.artifact_id as "artifactId",
    d.receipt_shape_version as "shapeVersion", d.sandbox, encode(d.sha256, 'hex') as sha256,
    (select max(n.ordinal) from delivery_keys as n where n.sequence = d.sequence) as ordinal
  from found as f cross join lateral (
    select * from deliveries where sequence = f.sequence limit 1
  ) as d
)`;

/** What is known of the group, and the sequence after all that were given. */
export const standingText = `${known}
select
  1 + greatest(
    (select coalesce(max(sequence), 0) from deliveries),
    (select sequence_above from catalog_state)) as next,
  (select coalesce(json_agg(known), '[]') from known) as known`;

/** What is known of the group. */
export const knownText = `${known}
select * from known`;

/** The sources of the group's claims, and which of their shape versions there are. */
export const sourcesText = `
select a.source as "sourceId", a.version, s.id, v.version is not null as known
from json_to_recordset($1::json) as a(source uuid, version bigint)
join sources as s on s.uuid = a.source
left join shape_versions as v on v.source_id = s.id and v.version = a.version`;

/**
 * Writes what was judged: $1 deliveries, $2 names, $3 conflicts. A new delivery waits for parsing
 * at once, under the version that its receipt names; who parses is told when this commits.
 */
export const writeText = `
with given as (
  select * from json_to_recordset($1::json) as g(
    sequence bigint, source bigint, sandbox boolean, version bigint, artifact uuid, sha256 text,
    bytes bigint, delivery text, media_type text, encoding text, received_at bigint,
    object text, "offset" bigint, length bigint, secret uuid)
), stored as (
  insert into deliveries (
    sequence, artifact_id, source_id, sandbox, receipt_shape_version, shape_version, generation,
    sha256, bytes, delivery, media_type, encoding, received_at, object, object_offset,
    object_length, secret_id, status, due_at, failures, crashes)
  select sequence, artifact, source, sandbox, version, version, 0,
    decode(sha256, 'hex'), bytes, delivery, media_type, encoding, received_at, object, "offset",
    length, secret, 'queued', 0, 0, 0
  from given
), bodies as (
  insert into delivery_bodies (source_id, sandbox, sha256, sequence, artifact_id)
  select source, sandbox, decode(sha256, 'hex'), sequence, artifact from given
), names as (
  insert into delivery_keys (source_id, sandbox, key, sequence, ordinal, named_at)
  select source, sandbox, key, sequence, ordinal, at from json_to_recordset($2::json) as n(
    source bigint, sandbox boolean, key text, sequence bigint, ordinal bigint, at bigint)
), conflicts as (
  insert into delivery_conflicts (sequence, key, sha256, at, source_id, received_at)
  select c.sequence, c.key, decode(c.sha256, 'hex'), c.at,
    coalesce(d.source_id, g.source), coalesce(d.received_at, g.received_at)
  from json_to_recordset($3::json) as c(sequence bigint, key text, sha256 text, at bigint)
  left join deliveries as d on d.sequence = c.sequence
  left join given as g on g.sequence = c.sequence
)
select pg_notify('${queuedChannel}', '') where exists (select 1 from given)`;
