type Status = 'queued' | 'parsing' | 'parsed' | 'rejected';

const kinds: Record<Status, string> = {
  queued: 'badge',
  parsing: 'badge warn',
  parsed: 'badge good',
  rejected: 'badge bad',
};

/** The state of a delivery. */
export function StatusBadge({ status }: { status: Status }) {
  return <span class={kinds[status]}>{status}</span>;
}

export function SandboxBadge() {
  return <span class="badge sandbox">sandbox</span>;
}

export const damageText = {
  missing: 'Its stored bytes are missing, or not all there.',
  changed: 'Its stored bytes are not those that were accepted.',
  unreadable: 'The store does not give its bytes.',
} as const;
