import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { addressFromUrl, type ClickHouseAddress } from '../../src/samples/address.ts';

/** A configuration instead of that of `cluster-config.ts`, and what it takes of the environment. */
interface OtherConfig {
  readonly path: string;
  readonly env: Readonly<Record<string, string>>;
}

/** Starts an engine with clusters (`cluster-engine.ts`). */
export async function clusterEngine(other?: OtherConfig): Promise<{
  at(cluster: 'weir' | 'torn' | 'twice', database: string): ClickHouseAddress;
  remove(): Promise<void>;
}> {
  const directory = mkdtempSync(join(tmpdir(), 'weir-cluster-'));
  const program = fileURLToPath(new URL('./cluster-engine.ts', import.meta.url));
  const child = spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      program,
      directory,
      ...(other ? ['0', other.path] : []),
    ],
    {
      env: { ...process.env, ...other?.env, UV_THREADPOOL_SIZE: '16' },
      stdio: ['pipe', 'pipe', 'inherit'],
    },
  );
  const exited = once(child, 'exit');
  const said = once(child.stdout, 'data').then(([text]) => String(text).trim());
  const port = await Promise.race([said, exited.then(() => null)]);
  if (port === null) throw new Error('the engine with a cluster ended before it was ready');
  return {
    at: (cluster, database) =>
      addressFromUrl(`http://default:p@127.0.0.1:${port}/${database}?cluster=${cluster}`),
    async remove() {
      child.stdin.end();
      await exited;
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
