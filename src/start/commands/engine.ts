import { Command } from 'commander';
import { readSettings } from '../settings.ts';
import { stopSignal } from '../stop-signal.ts';

export function engineCommand(): Command {
  return new Command('engine')
    .description('run the embedded ClickHouse engine alone, for tests and small clusters')
    .requiredOption('--listen <host:port>', 'where it answers over HTTP')
    .action(async (options: { listen: string }) => {
      const settings = readSettings(process.env);
      const [{ pino }, { startEngine }] = await Promise.all([
        import('pino'),
        import('../../samples/engine/supervisor.ts'),
      ]);
      const log = pino({ level: settings.WEIR_LOG_LEVEL });
      const { dataDir } = settings;
      const engine = await startEngine({ dataDir, listen: options.listen, log });
      const { url } = engine.address;
      log.info({ url, password: `in ${dataDir}/engine.json` }, 'the engine answers');
      await stopSignal();
      await engine.stop();
      process.exit(0);
    });
}
