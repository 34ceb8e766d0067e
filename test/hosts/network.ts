import { execFile, execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { ensureDebian } from '../support/debian.ts';
import { type Needed, need } from '../support/needed.ts';

const run = promisify(execFile);

/** Network namespaces, or the reason why they cannot be had; for `describeWith`. */
export function networkOrSkip(): Promise<Needed<() => Promise<Network>>> {
  return need('network namespaces', async () => {
    await ensureDebian('/usr/sbin/ip', ['iproute2']);
    const probe = await Network.make();
    probe.remove();
    return Network.make;
  });
}

/** A host of the network: a namespace with one address of its own. */
export interface Host {
  readonly address: string;
  /** What comes before a command that is to run on it. */
  readonly within: readonly string[];
  /** Takes its cable out: what is sent to it or by it is lost, and nobody is told. */
  cut(): Promise<void>;
  mend(): Promise<void>;
}

/**
 * Hosts on one switch, each a network namespace with an address of its own. This process is on the
 * switch too, over an address that is made for it; nothing else of the machine is touched.
 */
export class Network {
  readonly #name: string;
  readonly #net: string;
  readonly #hosts: string[] = [];
  readonly #removeWithUs = () => this.remove();

  private constructor(name: string, net: string) {
    this.#name = name;
    this.#net = net;
  }

  /** @throws Error one line when this user may not make any */
  static async make(this: void): Promise<Network> {
    const [a, b, ...rest] = randomBytes(5);
    // Of 10.0.0.0/8, a net that nobody else is likely to have here.
    const net = `10.${200 + (a! % 50)}.${b}`;
    const network = new Network(`w${Buffer.from(rest).toString('hex')}`, net);
    process.once('exit', network.#removeWithUs);
    try {
      await network.#makeSwitch();
    } catch (error) {
      network.remove();
      const { stderr } = error as { stderr?: string };
      throw new Error(`ip: ${stderr?.trim() || (error as Error).message}`);
    }
    return network;
  }

  async host(name: string): Promise<Host> {
    const own = `${this.#name}-${name}`;
    const port = `${this.#name}${name}`.slice(0, 15);
    const address = `${this.#net}.${this.#hosts.length + 10}`;
    this.#hosts.push(own);
    await ip('netns', 'add', own);
    await ip('link', 'add', port, 'netns', this.#name, 'type', 'veth', 'peer', 'lan', 'netns', own);
    await ip('-n', this.#name, 'link', 'set', port, 'master', 'switch', 'up');
    await ip('-n', own, 'address', 'add', `${address}/24`, 'dev', 'lan');
    await ip('-n', own, 'link', 'set', 'lan', 'up');
    await ip('-n', own, 'link', 'set', 'lo', 'up');
    return {
      address,
      within: ['ip', 'netns', 'exec', own],
      cut: () => ip('-n', this.#name, 'link', 'set', port, 'down'),
      mend: () => ip('-n', this.#name, 'link', 'set', port, 'up'),
    };
  }

  /** Takes all of it away; what still runs on a host keeps its namespace until it ends. */
  remove(): void {
    process.off('exit', this.#removeWithUs);
    // Of a network that could not be made some are missing.
    for (const name of [...this.#hosts, this.#name]) {
      try {
        execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
      } catch {}
    }
  }

  async #makeSwitch(): Promise<void> {
    const us = this.#name;
    await ip('netns', 'add', us);
    await ip('-n', us, 'link', 'add', 'switch', 'type', 'bridge', 'forward_delay', '0');
    await ip('-n', us, 'link', 'set', 'switch', 'up');
    await ip('link', 'add', us, 'type', 'veth', 'peer', 'test', 'netns', us);
    await ip('-n', us, 'link', 'set', 'test', 'master', 'switch', 'up');
    await ip('address', 'add', `${this.#net}.1/24`, 'dev', us);
    await ip('link', 'set', us, 'up');
  }
}

async function ip(...args: readonly string[]): Promise<void> {
  await run('ip', [...args]);
}
