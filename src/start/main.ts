import { Command, CommanderError } from 'commander';
import { CatalogRefusal } from '../catalog/catalog.ts';
import { WrongUsage } from './command.ts';
import { backupCommand } from './commands/backup.ts';
import { companyCommands } from './commands/company.ts';
import { deliveryCommands } from './commands/delivery.ts';
import { engineCommand } from './commands/engine.ts';
import { keyCommands } from './commands/key.ts';
import { metricCommands } from './commands/metric.ts';
import { pushCommand } from './commands/push.ts';
import { rebuildCommand } from './commands/rebuild.ts';
import { recoverCommand } from './commands/recover.ts';
import { reparseCommand } from './commands/reparse.ts';
import { secretCommands } from './commands/secret.ts';
import { sendCommand } from './commands/send.ts';
import { serveCommand } from './commands/serve.ts';
import { sourceCommands } from './commands/source.ts';
import { traceCommand } from './commands/trace.ts';
import { userCommands } from './commands/user.ts';
import { verifyCommand } from './commands/verify.ts';
import { SettingsError, settingsHelp } from './settings.ts';

/** `weir`: exit code 0 done, 1 failed, 2 wrong usage. */
const program = new Command('weir')
  .description('An ingestion node for company metrics.')
  .addHelpText('after', `\n${settingsHelp()}`)
  .addCommand(serveCommand())
  .addCommand(engineCommand())
  .addCommand(companyCommands())
  .addCommand(userCommands())
  .addCommand(metricCommands())
  .addCommand(sourceCommands())
  .addCommand(keyCommands())
  .addCommand(secretCommands())
  .addCommand(deliveryCommands())
  .addCommand(reparseCommand())
  .addCommand(traceCommand())
  .addCommand(rebuildCommand())
  .addCommand(verifyCommand())
  .addCommand(pushCommand())
  .addCommand(sendCommand())
  .addCommand(backupCommand())
  .addCommand(recoverCommand());

throwOnExit(program);

try {
  await program.parseAsync();
} catch (error) {
  process.exitCode = told(error);
}

/** Commander ends the process by itself otherwise, with its own exit codes. */
function throwOnExit(command: Command): void {
  command.exitOverride().showHelpAfterError('(--help shows what there is)');
  for (const one of command.commands) throwOnExit(one);
}

/** Says on stderr what went wrong, in one line, and gives the exit code. */
function told(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
  const { message } = error instanceof Error ? error : new Error(String(error));
  const field = error instanceof CatalogRefusal && error.field;
  process.stderr.write(`weir: ${field ? `field ${JSON.stringify(field)}: ` : ''}${message}\n`);
  if (process.env.WEIR_LOG_LEVEL === 'debug') process.stderr.write(`${(error as Error).stack}\n`);
  return error instanceof WrongUsage || error instanceof SettingsError ? 2 : 1;
}
