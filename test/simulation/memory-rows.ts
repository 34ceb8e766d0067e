import type {
  Claim,
  KnownDelivery,
  Probe,
  StoredReceipt,
  Verdict,
} from '../../src/catalog/catalog.ts';
import type { PlainClaim, PlainProbe } from '../../src/catalog/writes.ts';
import type { Counts, DeliveryStatus, Rejection } from '../../src/domain/nouns.ts';

/** One delivery with all its state. */
export interface Row {
  readonly claim: PlainClaim;
  readonly sequence: number;
  readonly keys: string[];
  conflicts: number;
  status: DeliveryStatus;
  token: string | null;
  dueAt: number;
  failures: number;
  crashes: number;
  isSettled: boolean;
  version: number;
  generation: number;
  next: { readonly generation: number; readonly version: number } | null;
  counts: Counts | null;
  refusal: Rejection | null;
}

type Name = Pick<Probe, 'sourceId' | 'sandbox' | 'idempotencyKey'>;
type Body = Pick<Probe, 'sourceId' | 'sandbox'> & { readonly sha256: string };

/** The deliveries of the catalog in memory: the rules of DECISIONS 5 in their plainest form. */
export class MemoryRows {
  readonly all: Row[] = [];
  readonly byArtifact = new Map<string, Row>();
  readonly #byKey = new Map<string, Row>();
  readonly #byBody = new Map<string, Row>();

  named({ sourceId, sandbox, idempotencyKey }: Name): Row | undefined {
    return this.#byKey.get(`${sourceId} ${sandbox} ${idempotencyKey}`);
  }

  known(probe: Name & Body): KnownDelivery | null {
    const named = this.named(probe);
    if (named) {
      const bodyDiffers = named.claim.sha256 !== probe.sha256;
      return { by: 'key', receipt: receiptOf(named), bodyDiffers };
    }
    const same = this.#byBody.get(placeOf(probe));
    return same ? { by: 'body', receipt: receiptOf(same), bodyDiffers: false } : null;
  }

  replay(probe: PlainProbe): KnownDelivery | null {
    const known = this.known(probe);
    if (known?.bodyDiffers) this.named(probe)!.conflicts += 1;
    if (known?.by === 'body') this.#name(this.#byBody.get(placeOf(probe))!, probe);
    return known;
  }

  record(claim: PlainClaim): Verdict {
    const known = this.replay(claim);
    if (known) return { outcome: 'replayed', known };
    const row: Row = {
      ...{ claim, sequence: this.all.length + 1, keys: [], conflicts: 0, status: 'queued' },
      ...{ token: null, dueAt: 0, failures: 0, crashes: 0, isSettled: false },
      ...{ version: claim.shapeVersion, generation: 0, next: null, counts: null, refusal: null },
    };
    this.all.push(row);
    this.byArtifact.set(claim.artifactId, row);
    this.#byBody.set(placeOf(claim), row);
    this.#name(row, claim);
    return { outcome: 'stored', receipt: receiptOf(row), sequence: row.sequence };
  }

  #name(row: Row, { sourceId, sandbox, idempotencyKey }: Name): void {
    row.keys.push(idempotencyKey);
    this.#byKey.set(`${sourceId} ${sandbox} ${idempotencyKey}`, row);
  }
}

function placeOf({ sourceId, sandbox, sha256 }: Body): string {
  return `${sourceId} ${sandbox} ${sha256}`;
}

function receiptOf({ claim }: { readonly claim: Omit<Claim, 'sha256'> }): StoredReceipt {
  const { artifactId, shapeVersion, sandbox } = claim;
  return { artifactId, shapeVersion, sandbox };
}
