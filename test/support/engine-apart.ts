import { fileURLToPath } from 'node:url';
import { openEngineAddress } from '../../src/samples/engine/supervisor.ts';
import { endServer, startServer } from './server-process.ts';

const launcher = fileURLToPath(new URL('../../src/start/weir', import.meta.url));

/**
 * Starts `weir engine`, the embedded engine as a server of its own.
 *
 * @param listen `host:port`, where it can be reached from here
 * @param within what comes before the command
 */
export async function startEngineApart(
  dataDir: string,
  listen: string,
  within: readonly string[] = [],
) {
  const [command, ...before] = [...within, launcher];
  const clean = Object.entries(process.env).filter(([name]) => !name.startsWith('WEIR_'));
  const start = () =>
    startServer({
      ...{
        name: 'weir engine',
        command: command!,
        args: [...before, 'engine', '--listen', listen],
      },
      env: { ...Object.fromEntries(clean), WEIR_DATA_DIR: dataDir },
      ready: () =>
        fetch(`http://${listen}/ping`, { signal: AbortSignal.timeout(1_000) }).then(
          (answer) => answer.ok,
          () => false,
        ),
    });
  let child = await start();
  const { username, password, database } = openEngineAddress(dataDir);
  return {
    /** For `WEIR_CLICKHOUSE_URL`. */
    url: `http://${username}:${password}@${listen}/${database}`,
    /** Of the process that runs now; the engine itself is a child of it. */
    pid: () => child.pid!,
    kill: () => endServer(child),
    async restart() {
      await endServer(child);
      child = await start();
    },
  };
}
