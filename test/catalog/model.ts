import type { KnownDelivery, StoredReceipt } from '../../src/catalog/catalog.ts';

interface ModelDelivery {
  readonly receipt: StoredReceipt;
  readonly sha256: string;
  readonly names: string[];
  conflicts: number;
}

export interface ModelProbe {
  readonly sourceId: string;
  readonly sandbox: boolean;
  readonly key: string;
  readonly sha256: string;
}

/** DECISIONS 5 in its plainest form: two maps for each source and sandbox. */
export class LedgerModel {
  readonly deliveries: ModelDelivery[] = [];
  readonly #byKey = new Map<string, ModelDelivery>();
  readonly #byBody = new Map<string, ModelDelivery>();

  /** The same state, which goes its own way from now on. */
  clone(): LedgerModel {
    const copy = new LedgerModel();
    const copies = new Map<ModelDelivery, ModelDelivery>();
    for (const one of this.deliveries) {
      const same = { ...one, names: [...one.names] };
      copies.set(one, same);
      copy.deliveries.push(same);
    }
    for (const [name, one] of this.#byKey) copy.#byKey.set(name, copies.get(one)!);
    for (const [name, one] of this.#byBody) copy.#byBody.set(name, copies.get(one)!);
    return copy;
  }

  known(probe: ModelProbe): KnownDelivery | null {
    const named = this.#byKey.get(place(probe, probe.key));
    if (named) {
      return { by: 'key', receipt: named.receipt, bodyDiffers: named.sha256 !== probe.sha256 };
    }
    const same = this.#byBody.get(place(probe, probe.sha256));
    return same ? { by: 'body', receipt: same.receipt, bodyDiffers: false } : null;
  }

  /** What is known, with its effects: another name, or a conflict. */
  replay(probe: ModelProbe): KnownDelivery | null {
    const known = this.known(probe);
    if (known?.by === 'body') this.#name(this.#byBody.get(place(probe, probe.sha256))!, probe);
    if (known?.bodyDiffers) this.#byKey.get(place(probe, probe.key))!.conflicts++;
    return known;
  }

  record(probe: ModelProbe, artifactId: string): KnownDelivery | 'stored' {
    const known = this.replay(probe);
    if (known) return known;
    const receipt = { artifactId, shapeVersion: 1, sandbox: probe.sandbox };
    const delivery = { receipt, sha256: probe.sha256, names: [], conflicts: 0 };
    this.deliveries.push(delivery);
    this.#byBody.set(place(probe, probe.sha256), delivery);
    this.#name(delivery, probe);
    return 'stored';
  }

  #name(delivery: ModelDelivery, probe: ModelProbe): void {
    delivery.names.push(probe.key);
    this.#byKey.set(place(probe, probe.key), delivery);
  }
}

function place(probe: ModelProbe, what: string): string {
  return JSON.stringify([probe.sourceId, probe.sandbox, what]);
}
