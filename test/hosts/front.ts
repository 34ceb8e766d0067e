import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { RunningWeir } from '../../src/start/demo/running-weir.ts';
import type { Cluster } from './cluster.ts';

/** A cluster as one weir, for suites that know a service by its address. Ending it ends nothing. */
export class FrontOfCluster extends RunningWeir {
  readonly #cluster: Cluster;

  constructor(cluster: Cluster) {
    // Of a service on this machine the suites look into the directory of files; here is none.
    const dataDir = mkdtempSync(join(tmpdir(), 'weir-front-'));
    const settings = { WEIR_SECRET_KEY: cluster.secretKey };
    super({ dataDir, api: 0, app: 0, ops: 0, settings });
    this.#cluster = cluster;
  }

  override get url(): string {
    return this.#cluster.url;
  }

  override get opsUrl(): string {
    return this.#cluster.nodes[0]!.opsUrl;
  }

  override get isRunning(): boolean {
    return true;
  }
}
