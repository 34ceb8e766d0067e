import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePorts } from '../../src/start/demo/running-weir.ts';
import { ensureGoBinary } from './go-binary.ts';
import { type Needed, need } from './needed.ts';

const version = 'v2.5.0';

/** The toxiproxy binary, or the reason why it cannot be had; for `describeWith`. */
export function toxiproxyOrSkip(): Promise<Needed<string>> {
  return need('toxiproxy', ensureToxiproxy);
}

/** @throws Error one line when it is missing and cannot be built */
function ensureToxiproxy(): Promise<string> {
  return ensureGoBinary({
    ...{ name: 'toxiproxy', version, takes: 'half a minute', madeAs: 'server' },
    build: () => ['install', `github.com/Shopify/toxiproxy/v2/cmd/server@${version}`],
  });
}

/** What happens to the bytes of one direction; the attributes are those of toxiproxy's README. */
export interface Toxic {
  readonly type: string;
  readonly attributes: Readonly<Record<string, number>>;
  readonly stream: 'upstream' | 'downstream';
}

/** A TCP proxy of a local port, which does to connections what it is told. */
export interface ToxicProxy {
  readonly port: number;
  add(toxic: Toxic): Promise<void>;
  /** Takes no connections and drops those that stand, until `heal`. */
  down(): Promise<void>;
  /** Takes all toxics away, from connections that stand too. */
  heal(): Promise<void>;
  /** How often it hung or crashed and was started anew, which drops all connections. */
  restarts(): number;
  stop(): Promise<void>;
}

/**
 * Starts one. This version hangs or crashes now and then when a toxic is added to or taken from a
 * connection that is just being closed; it is then started anew, without toxics.
 *
 * @param seed of what toxiproxy draws: jitter and sizes
 */
export async function startToxicProxy(upstreamPort: number, seed: number): Promise<ToxicProxy> {
  const binary = await ensureToxiproxy();
  const [apiPort, port] = (await freePorts(2)) as [number, number];
  const api = `http://127.0.0.1:${apiPort}`;
  const proxy = { listen: `127.0.0.1:${port}`, upstream: `127.0.0.1:${upstreamPort}` };
  const start = async () => {
    const made = await startProcess(binary, apiPort, seed);
    await post(`${api}/proxies`, { name: 'store', ...proxy, enabled: true });
    return made;
  };
  let child = await start();
  let restarts = 0;
  const tell = async (path: string, body: object) => {
    try {
      await post(api + path, body);
    } catch (error) {
      if (error instanceof Refused) throw error;
      await end(child);
      child = await start();
      restarts += 1;
    }
  };
  let added = 0;
  return {
    port,
    add({ type, attributes, stream }) {
      added += 1;
      const toxic = { name: `toxic-${added}`, type, stream, attributes };
      return tell('/proxies/store/toxics', toxic);
    },
    down: () => tell('/proxies/store', { enabled: false }),
    heal: () => tell('/reset', {}),
    restarts: () => restarts,
    stop: () => end(child),
  };
}

async function startProcess(binary: string, apiPort: number, seed: number): Promise<ChildProcess> {
  const args = ['-host', '127.0.0.1', '-port', String(apiPort), '-seed', String(seed)];
  const env = { PATH: process.env.PATH, LOG_LEVEL: 'fatal' };
  const child = spawn(binary, args, { env, stdio: 'ignore' });
  const killWithUs = () => child.kill('SIGKILL');
  process.once('exit', killWithUs);
  child.once('exit', () => process.off('exit', killWithUs));
  for (const end = Date.now() + 10_000; Date.now() < end; await sleep(20)) {
    if (child.exitCode !== null) throw new Error(`toxiproxy ended with ${child.exitCode}`);
    const answer = await fetch(`http://127.0.0.1:${apiPort}/version`).catch(() => null);
    if (answer?.ok) return child;
  }
  child.kill('SIGKILL');
  throw new Error('toxiproxy was not ready within 10 s');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGKILL');
  await ended;
}

async function post(url: string, body: object): Promise<void> {
  const signal = AbortSignal.timeout(2_000);
  const answer = await fetch(url, { method: 'POST', body: JSON.stringify(body), signal });
  const text = await answer.text();
  if (!answer.ok) throw new Refused(`toxiproxy answered ${answer.status}: ${text}`);
}

/** It understood, and did not want to. */
class Refused extends Error {}
