import { Command } from 'commander';
import { WrongUsage } from '../command.ts';
import { allRoles, readRoles } from '../roles.ts';
import { readSettings } from '../settings.ts';
import { stopSignal } from '../stop-signal.ts';

export function serveCommand(): Command {
  return new Command('serve')
    .description('run the service on the settings of the environment')
    .option('--processes <n>', 'how many processes share its addresses', '1')
    .option('--roles <list>', 'what it does, by comma', allRoles.join(','))
    .action(async (options: { processes: string; roles: string }) => {
      const roles = readRoles(options.roles);
      const count = readCount(options.processes);
      const settings = readSettings(process.env);
      // Imported here, so that the small commands do not wait for what only the service needs.
      const { pino } = await import('pino');
      const log = pino({ level: settings.WEIR_LOG_LEVEL });
      const start = count === 1 ? startAlone : startSeveral;
      const service = await start(settings, log, { roles, count });
      await stopSignal();
      log.info('stopping');
      await service.stop();
      log.info('stopped');
      process.exit(0);
    });
}

type Start = typeof import('../processes/supervisor.ts')['startProcesses'];

const startAlone: Start = async (settings, log, { roles }) => {
  const [{ startService }, { alone }] = await Promise.all([
    import('../serve.ts'),
    import('../surroundings.ts'),
  ]);
  return startService(settings, log, alone(settings, log, roles));
};

const startSeveral: Start = async (...of) => {
  const { startProcesses } = await import('../processes/supervisor.ts');
  return startProcesses(...of);
};

/** Far more than a machine has cores; each has threads and memory of its own. */
const processesMax = 256;

function readCount(text: string): number {
  const count = /^[0-9]{1,3}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= processesMax) return count;
  throw new WrongUsage(`--processes is a number from 1 to ${processesMax}`);
}
