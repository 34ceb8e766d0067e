import { Command } from 'commander';
import { v7 as uuid } from 'uuid';
import { newToken } from '../../app/sessions.ts';
import { CatalogRefusal } from '../../catalog/catalog.ts';
import type { User, UserPermission } from '../../catalog/users-contract.ts';
import { answering, group, id, WrongUsage } from '../command.ts';

const hourMs = 3_600_000;
const invitationHours = 24;
const permissions: readonly UserPermission[] = ['sources.read', 'sources.manage'];

interface InviteOptions {
  readonly company: string;
  readonly email: string;
  readonly permissions: string;
}

export function userCommands(): Command {
  const invite = ofCompany('invite')
    .description(`make a user, or a new link for one; it works once, for ${invitationHours} hours`)
    .requiredOption('--email <email>', 'who is invited')
    .option('--permissions <list>', `by comma: ${permissions.join(', ')}`, 'sources.read');
  const list = ofCompany('list').description('list the users of a company');
  const remove = ofCompany('remove')
    .description('take a user away; the next request of the user is refused')
    .requiredOption('--email <email>', 'who is taken away');
  return group('user', 'users of the app', [
    answering(invite, async ({ catalog, settings }, options: InviteOptions) => {
      const { token, hash } = newToken();
      const now = Date.now();
      const endsAt = now + invitationHours * hourMs;
      const invitation = {
        ...{ userId: uuid(), companyId: options.company, email: emailOf(options.email) },
        ...{ permissions: permissionsOf(options.permissions), hash, endsAt },
      };
      const user = await catalog.users.invite(invitation, now);
      // Behind the #: browsers send that to nobody, so no log of any server has the link.
      const url = `${settings.appUrl}/invitation#${token}`;
      return { url, ends_at: new Date(endsAt).toISOString(), ...userAnswer(user) };
    }),
    answering(list, async ({ catalog }, options: { company: string }) =>
      (await catalog.users.list(options.company)).map(userAnswer),
    ),
    answering(remove, async ({ catalog }, options: { company: string; email: string }) => {
      const { company, email } = options;
      if (!(await catalog.users.remove(company, email))) {
        throw new CatalogRefusal('user_not_found', 'The company has no user of this email.');
      }
      return { email, removed: true };
    }),
  ]);
}

function ofCompany(name: string): Command {
  return new Command(name).requiredOption('--company <company>', 'the company id', id);
}

const emailForm = /^[^\s@]+@[^\s@]+$/;
const emailCharsMax = 254;

function emailOf(text: string): string {
  if (emailForm.test(text) && text.length <= emailCharsMax) return text;
  throw new WrongUsage('--email: this is no email address');
}

function permissionsOf(text: string): UserPermission[] {
  const names = text.split(',').map((name) => name.trim());
  const unknown = names.find((name) => !permissions.some((one) => one === name));
  if (unknown !== undefined) {
    const there = permissions.join(', ');
    throw new WrongUsage(`--permissions: ${JSON.stringify(unknown)} is none of ${there}`);
  }
  return permissions.filter((one) => names.includes(one));
}

function userAnswer(user: User) {
  return {
    user_id: user.userId,
    email: user.email,
    permissions: user.permissions,
    created_at: new Date(user.createdAt).toISOString(),
  };
}
