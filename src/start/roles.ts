import { WrongUsage } from './command.ts';

/**
 * What a process of the service does; a service is whole when each role is somewhere.
 *
 * - accept: takes pushes, documents and webhooks, and gives receipts.
 * - parse: makes samples of what was accepted, and keeps the stores up (scrubber, orphans).
 * - serve: answers reads of the API, and its document.
 * - app: the app with its pages.
 */
export const allRoles = ['accept', 'parse', 'serve', 'app'] as const;

export type Role = (typeof allRoles)[number];

/**
 * Reads a comma list of roles.
 *
 * @throws WrongUsage for an unknown role, or none
 */
export function readRoles(text: string): ReadonlySet<Role> {
  const names = text.split(',').map((name) => name.trim());
  const roles = allRoles.filter((role) => names.includes(role));
  const unknown = names.filter((name) => !allRoles.includes(name as Role));
  if (unknown.length === 0) return new Set(roles);
  const known = allRoles.join(', ');
  throw new WrongUsage(`${JSON.stringify(unknown[0])} is no role; there are ${known}`);
}

/** Which listeners a process with these roles has, beside that of ops. */
export function listensAt(roles: ReadonlySet<Role>): {
  readonly api: boolean;
  readonly app: boolean;
} {
  return { api: roles.has('accept') || roles.has('serve'), app: roles.has('app') };
}

/** Whether a process with these roles asks ClickHouse. */
export function needsSamples(roles: ReadonlySet<Role>): boolean {
  return roles.has('parse') || roles.has('serve') || roles.has('app');
}
