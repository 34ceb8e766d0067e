import { Command } from 'commander';
import { allRoles, readRoles } from '../roles.ts';
import { readSettings } from '../settings.ts';
import { stopSignal } from '../stop-signal.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service on the settings of the environment')
    .option('--roles <list>', 'what this process does, by comma', allRoles.join(','))
    .action(async (options: { roles: string }) => {
      const roles = readRoles(options.roles);
      const settings = readSettings(process.env);
      // Imported here, so that the small commands do not wait for what only the service needs.
      const [{ pino }, { startService }, { alone }] = await Promise.all([
        import('pino'),
        import('../serve.ts'),
        import('../surroundings.ts'),
      ]);
      const log = pino({ level: settings.WEIR_LOG_LEVEL });
      const service = await startService(settings, log, alone(settings, log, roles));
      await stopSignal();
      log.info('stopping');
      await service.stop();
      log.info('stopped');
      process.exit(0);
    });
}
