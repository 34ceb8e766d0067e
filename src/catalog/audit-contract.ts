/** Who did what to which thing: the operator's commands, and later the app's users. */
export interface Audit {
  note(entry: AuditEntry): Promise<void>;
  /** Newest first; `before` is an entry's id, exclusive. */
  list(page: { limit: number; before?: number }): Promise<(AuditEntry & { id: number })[]>;
}

export interface AuditEntry {
  readonly at: number;
  /** `command line`, or a user's id. */
  readonly actor: string;
  /** Such as `key revoke`. */
  readonly action: string;
  /** What it was done to, and with which plain options; never a key or a secret. */
  readonly about: Readonly<Record<string, unknown>>;
}
