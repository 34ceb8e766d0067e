import { mkdirSync } from 'node:fs';
import { Command } from 'commander';
import type { Catalog } from '../catalog/catalog.ts';
import { openCatalog } from '../catalog/open.ts';
import { type Answer, render } from './output.ts';
import { readSettings, type Settings } from './settings.ts';

/** The caller wrote something that cannot be: exit code 2. */
export class WrongUsage extends Error {
  override readonly name = 'WrongUsage';
}

/**
 * A command that answers: `--json` is added, the answer printed to stdout and nothing else.
 *
 * @param run what it does; gets the arguments in order, then the options
 */
export function answering(
  command: Command,
  run: (settings: Settings, ...args: never[]) => Promise<Answer>,
): Command {
  return command
    .option('--json', 'print one JSON value and nothing else')
    .action(async (...args: unknown[]) => {
      const options = args.at(-2) as { json?: boolean };
      const settings = readSettings(process.env);
      const answer = await run(settings, ...(args.slice(0, -1) as never[]));
      process.stdout.write(render(answer, options.json ?? false));
    });
}

/** Opens the catalog for one command and closes it, whatever happens. */
export async function withCatalog<T>(
  settings: Settings,
  use: (catalog: Catalog) => Promise<T>,
): Promise<T> {
  mkdirSync(settings.dataDir, { recursive: true });
  const catalog = await openCatalog(settings.catalogUrl, { thread: false });
  try {
    return await use(catalog);
  } finally {
    await catalog.close();
  }
}

/** @returns a group of commands, `weir <name> …` */
export function group(name: string, description: string, commands: readonly Command[]): Command {
  const command = new Command(name).description(description);
  for (const one of commands) command.addCommand(one);
  return command;
}
