import { buffer } from 'node:stream/consumers';
import type { Size } from '../case.ts';
import { takeNumbers } from '../load/loader.ts';
import { pushBody } from '../load/push.ts';
import { requireKept, type TakenAnswer } from '../takers/taker.ts';
import type { World } from '../world/world.ts';
import { type Compared, compareLimited, compareProcesses, type Sending } from './accept.ts';
import { type Drained, HeldParser, type SettleMeasured } from './drain.ts';
import { type LedgerMeasured, measureLedger } from './ledger.ts';
import { measureInserts, measurePuts, type WriteMeasured } from './stores.ts';
import { type RunningService, type Stores, startStores, startWeir } from './world.ts';

/** Everything that a run measures; its result in `results/` holds this. */
export interface ScaleMeasured {
  readonly pushes64: Compared;
  readonly pushes256: Compared;
  /** Each process limited to a part of a core, by senders; none where the system does not. */
  readonly limited: readonly { readonly senders: number; readonly compared: Compared }[];
  readonly limitedTo: number;
  readonly documents: Compared;
  readonly documentBytes: number;
  readonly pushBytes: number;
  readonly parsePushes: Drained;
  readonly parseDocuments: Drained;
  readonly settle: SettleMeasured;
  readonly ledger: LedgerMeasured;
  readonly puts: WriteMeasured;
  readonly inserts: WriteMeasured;
}

/** @throws Error when a push to a service is not stored as it was sent */
async function requireStored(stores: Stores, { target }: RunningService): Promise<void> {
  const { catalog, artifacts } = stores;
  const n = takeNumbers(1);
  const taker = { target, pid: null, stored: (answer: TakenAnswer) => stored(answer.text) };
  const stored = async (text: string) => {
    const { artifact_id: id } = JSON.parse(text) as { artifact_id: string };
    const kept = await catalog.deliveries.byArtifact(id);
    if (!kept) throw new Error(`the catalog does not know ${id}`);
    return buffer(await artifacts.read(kept.place));
  };
  await requireKept(taker, n, Buffer.from(pushBody(n, 1_024)), 'application/json');
}

/** Of one core for each accepting process: two of them leave most of two cores to the stores. */
const limitedTo = 0.25;

interface Plan {
  readonly rounds: number;
  readonly seconds: number;
  readonly pushesMax: number;
  readonly documentsMax: number;
  /** Of the two loads of pushes, and of documents. */
  readonly senders: { readonly few: number; readonly many: number; readonly documents: number };
  readonly documentBytes: number;
  readonly ledgerDeliveries: number;
  readonly partsMax: number;
  /** For each size of a write. */
  readonly writeMs: number;
}

const usual = { senders: { few: 64, many: 256, documents: 8 }, documentBytes: 2 ** 20 };

const plans: Readonly<Record<Size, Plan>> = {
  full: {
    ...usual,
    ...{ rounds: 3, seconds: 2, pushesMax: 3_000, documentsMax: 16 },
    ...{ ledgerDeliveries: 200_000, partsMax: 300, writeMs: 1_000 },
  },
  quick: {
    ...usual,
    ...{ rounds: 2, seconds: 1, pushesMax: 1_500, documentsMax: 8 },
    ...{ ledgerDeliveries: 20_000, partsMax: 100, writeMs: 300 },
  },
  tiny: {
    ...{ senders: { few: 8, many: 16, documents: 1 }, documentBytes: 131_072 },
    ...{ rounds: 1, seconds: 0.1, pushesMax: 160, documentsMax: 2 },
    ...{ ledgerDeliveries: 1_000, partsMax: 10, writeMs: 20 },
  },
};

export async function measureScale(
  world: World,
  tell: (what: string) => void,
): Promise<ScaleMeasured> {
  const plan = plans[world.size];
  const stores = await startStores(world);
  tell('the stores run');
  const [puts, inserts] = [
    await measurePuts(stores, plan.writeMs),
    await measureInserts(stores, plan.writeMs),
  ];
  tell('writes to the stores are measured');
  const { ledgerDeliveries: deliveries, partsMax, writeMs: ms } = plan;
  const ledger = await measureLedger(stores, { deliveries, partsMax, ms });
  tell('the ledger is measured');
  const service = await measureService(world, stores, plan, tell);
  return { ...service, ledger, puts, inserts };
}

async function measureService(
  world: World,
  stores: Stores,
  { rounds, seconds, pushesMax, documentsMax, senders, documentBytes }: Plan,
  tell: (what: string) => void,
): Promise<Omit<ScaleMeasured, 'ledger' | 'puts' | 'inserts'>> {
  const parser = await HeldParser.start(world, stores);
  const roles = 'accept';
  const one = await startWeir(world, stores, { processes: 1, roles });
  const two = await startWeir(world, stores, { processes: 2, roles });
  try {
    for (const service of [one, two]) await requireStored(stores, service);
    const pushBytes = 1_024;
    const pushes = { kind: 'pushes', bytes: pushBytes, seconds, countMax: pushesMax } as const;
    const compare = (sending: Sending) => compareProcesses(stores, [one, two], sending, rounds);
    const pushes64 = await compare({ ...pushes, senders: senders.few });
    const pushes256 = await compare({ ...pushes, senders: senders.many });
    tell('pushes are measured');
    const limited = [];
    for (const count of [senders.many, 2 * senders.many]) {
      const limits = { rounds, coreShare: limitedTo };
      const sending = { ...pushes, senders: count };
      const compared = await compareLimited(stores, [one, two], sending, limits);
      if (compared !== null) limited.push({ senders: count, compared });
    }
    tell('pushes to limited processes are measured');
    const parsePushes = await parser.drain();
    tell('parsing of pushes is measured');
    const documents = await compare({
      ...{ kind: 'documents', senders: senders.documents, bytes: documentBytes, seconds },
      countMax: documentsMax,
    });
    const parseDocuments = await parser.drain();
    tell('documents are measured');
    const settle = await parser.settle(500);
    return {
      ...{ pushes64, pushes256, limited, limitedTo, pushBytes, parsePushes },
      ...{ documents, documentBytes, parseDocuments, settle },
    };
  } finally {
    await Promise.all([one.stop(), two.stop(), parser.stop()]);
  }
}
