import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, vi } from 'vitest';
import { readAddress } from '../../src/samples/engine/files.ts';
import { freePorts } from '../../src/start/demo/running-weir.ts';
import type { FaultPlace } from './place.ts';

/**
 * ClickHouse for several services (`weir engine`), in the data directory, where whoever checks
 * looks for it.
 */
export async function startEngineApart(
  place: FaultPlace,
): Promise<{ readonly url: string; end(): Promise<void> }> {
  const [port] = await freePorts(1);
  const env = place.weir().env();
  const args = ['engine', '--listen', `127.0.0.1:${port}`];
  const child = spawn('src/start/weir', args, { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  await vi.waitFor(() => expect(said).toContain('the engine answers'), { timeout: 30_000 });
  const { username, password, database } = readAddress(place.dataDir)!;
  return {
    url: `http://${username}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`,
    async end() {
      child.kill('SIGKILL');
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    },
  };
}
