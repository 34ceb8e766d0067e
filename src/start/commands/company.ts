import { Command } from 'commander';
import { v7 as uuid } from 'uuid';
import { isZone } from '../../domain/timezone.ts';
import { answering, group, WrongUsage } from '../command.ts';

export function companyCommands(): Command {
  const create = new Command('create')
    .description('create a company; its timezone never changes')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--timezone <zone>', 'IANA name, such as Europe/Berlin');
  return group('company', 'companies', [
    answering(create, async ({ catalog }, options: { name: string; timezone: string }) => {
      const { name } = options;
      if (name.trim() === '') throw new WrongUsage('--name must not be empty');
      const timezone = knownTimezone(options.timezone);
      const companyId = uuid();
      await catalog.directory.createCompany({ companyId, name, timezone }, Date.now());
      return { company_id: companyId, name, timezone };
    }),
  ]);
}

function knownTimezone(name: string): string {
  if (isZone(name)) return name;
  throw new WrongUsage(`--timezone: ${name} is no IANA timezone`);
}
