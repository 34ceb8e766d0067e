import { Command } from 'commander';
import type { Catalog } from '../catalog/catalog.ts';
import { isUuid } from '../catalog/dialect.ts';
import { openCatalog } from '../catalog/open.ts';
import { audited, withoutSecrets } from './audit.ts';
import { makeDataDir } from './data-dir.ts';
import { type Answer, render } from './output.ts';
import { readSettings, type Settings } from './settings.ts';

/** The caller wrote something that cannot be: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/** What a command works with; the catalog is closed when it ends. */
export interface Place {
  readonly settings: Settings;
  readonly catalog: Catalog;
}

/**
 * A command that answers: `--json` is added, the answer printed to stdout and nothing else.
 *
 * @param run what it does; gets the arguments in order, then the options
 */
export function answering(
  command: Command,
  run: (place: Place, ...args: never[]) => Promise<Answer>,
): Command {
  command.option('--json', 'print one JSON value and nothing else');
  return acting(command, async (place, ...args: never[]) => {
    const { json = false } = command.opts<{ json?: boolean }>();
    process.stdout.write(render(await run(place, ...args), json));
  });
}

/** A command over the catalog. Each use of it is in the audit log, reading ones too. */
export function acting(
  command: Command,
  run: (place: Place, ...args: never[]) => Promise<void>,
): Command {
  return command.action(async (...args: unknown[]) => {
    const settings = readSettings(process.env);
    makeDataDir(settings.dataDir);
    const catalog = await openCatalog(settings.catalogUrl, { thread: false });
    try {
      await audited(catalog.audit, command, codeOf, () =>
        run({ settings, catalog }, ...(args.slice(0, -1) as never[])),
      );
    } finally {
      await catalog.close();
    }
  });
}

function codeOf(error: unknown): string {
  if (error instanceof WrongUsage) return 'wrong_usage';
  const { code, name } = error as { code?: unknown; name?: unknown };
  return String(code ?? name ?? 'failed');
}

/**
 * Reads an argument or an option that names a thing by its id.
 *
 * @throws WrongUsage when it is no uuid
 */
export function id(text: string): string {
  if (isUuid(text)) return text.toLowerCase();
  throw new WrongUsage(`${JSON.stringify(withoutSecrets(text))} is no id; an id is a uuid`);
}

/** @returns a group of commands, `weir <name> …` */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const command = new Command(name).description(description);
  for (const one of commands) command.addCommand(one);
  return command;
}
