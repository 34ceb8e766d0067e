/** The statements of both catalogs: their tables have the same names, their values do not. */

/** How a database writes a value as the text that is compared. */
export interface SeenAs {
  /** Bytes as hex digits in lower case. */
  readonly hex: (column: string) => string;
  readonly uuid: (column: string) => string;
}

export const waitingCount = `
  SELECT count(*) AS n FROM deliveries WHERE status NOT IN ('parsed', 'rejected')`;

/** Names in quotes, which keep their case in Postgres too. */
export const deliveryRows = ({ hex, uuid }: SeenAs) => `
  SELECT d.sequence, ${uuid('d.artifact_id')} AS "artifactId", ${uuid('s.uuid')} AS "sourceId",
    d.sandbox, ${hex('d.sha256')} AS sha256, d.bytes, d.status, d.records, d.parsed,
    d.rejected, d.samples, d.blank, d.superseded_within AS "supersededWithin",
    d.receipt_shape_version AS "shapeVersion", d.object, d.object_offset AS "offset",
    d.object_length AS length
  FROM deliveries AS d JOIN sources AS s ON s.id = d.source_id ORDER BY d.sequence`;

export const keyRows = 'SELECT sequence, key FROM delivery_keys ORDER BY sequence, ordinal';

export const conflictRows = ({ hex }: SeenAs) =>
  `SELECT sequence, key, ${hex('sha256')} AS sha256 FROM delivery_conflicts`;
