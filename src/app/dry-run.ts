import type { Deliveries } from '../catalog/deliveries-contract.ts';
import type { SourceSummaries } from '../catalog/source-summaries-contract.ts';
import { AppError } from '../domain/app-errors.ts';
import type { Delivery, Field, Rejection, ShapeVersion } from '../domain/nouns.ts';
import { personalNames } from '../domain/personal.ts';
import type { Clock } from '../std/clock.ts';
import { instant } from '../std/instant.ts';

/**
 * Parses one delivery under fields that need not be saved (`start/dry-run.ts`).
 *
 * @param personalNow names of the fields that are personal then; the shape's own unless given
 */
export type TryDelivery = (
  delivery: Delivery,
  shape: Pick<ShapeVersion, 'fields' | 'format'>,
  personalNow?: readonly string[],
) => Promise<Tried | NotTried>;

export interface Tried {
  readonly outcome: 'tried';
  readonly records: number;
  readonly parsed: number;
  readonly rejected: number;
  readonly newlyRejected: number;
  readonly samples: { readonly added: number; readonly changed: number; readonly gone: number };
  readonly refusal: Rejection | null;
  readonly rejections: readonly Rejection[];
}

export interface NotTried {
  readonly outcome: 'too_large' | 'unreadable' | 'damaged' | 'crashed';
}

export interface DryRunParts {
  readonly catalog: {
    readonly deliveries: Pick<Deliveries, 'list'>;
    readonly sourceSummaries: Pick<SourceSummaries, 'exposed'>;
  };
  readonly tryDelivery: TryDelivery;
  readonly clock: Clock;
}

/** Bytes of bodies that one dry run parses. What came packed counts as so many times its size. */
const bytesMax = 16 * 1024 * 1024;
const packedTimes = 8;
/** After so long no further delivery is begun, and one under way is not waited for. */
const msMax = 20_000;

interface Wanted {
  readonly sourceId: string;
  readonly fields: readonly Field[];
  readonly format: ShapeVersion['format'];
  /** How many of the newest deliveries. */
  readonly many: number;
}

/**
 * Tries fields on the newest deliveries of a source, within bounds: what is not tried says why.
 * One at a time: the threads are those that parse what comes in.
 *
 * @throws AppError `conflict` with `dry_run_busy` while another one is under way
 */
export function dryRuns({ catalog, tryDelivery, clock }: DryRunParts) {
  let free = true;

  async function oneByOne(wanted: Wanted, begun: Promise<unknown>[]) {
    const deliveries = await catalog.deliveries.list(wanted.sourceId, { limit: wanted.many });
    const until = clock() + msMax;
    let bytesLeft = bytesMax;
    const done: ReturnType<typeof view>[] = [];
    for (const delivery of deliveries) {
      const weight = weightOf(delivery, wanted.format);
      const msLeft = until - clock();
      if (weight > bytesLeft || msLeft <= 0) {
        done.push(view(delivery, { outcome: weight > bytesLeft ? 'too_large' : 'no_time' }));
        continue;
      }
      bytesLeft -= weight;
      const trying = tryDelivery(delivery, wanted);
      begun.push(trying);
      done.push(view(delivery, (await within(trying, msLeft)) ?? { outcome: 'no_time' }));
    }
    return done;
  }

  return async (wanted: Wanted) => {
    const { sourceId, fields, many } = wanted;
    const withdraws = await catalog.sourceSummaries.exposed(sourceId, personalNames(fields));
    if (many === 0) return { withdraws, deliveries: [] };
    if (!free) throw new AppError('conflict', busyMessage, { reason: 'dry_run_busy' });
    free = false;
    const begun: Promise<unknown>[] = [];
    try {
      return { withdraws, deliveries: await oneByOne(wanted, begun) };
    } finally {
      // What was not waited for still has its thread.
      void Promise.allSettled(begun).then(() => {
        free = true;
      });
    }
  };
}

const busyMessage = 'Another dry run is under way. Try again in a moment.';

function weightOf({ bytes, encoding, delivery }: Delivery, format: ShapeVersion['format']): number {
  const packed = delivery === 'document' && (format === 'xlsx' || format === 'parquet');
  return packed || encoding !== 'identity' ? bytes * packedTimes : bytes;
}

/** Null: it took longer. */
async function within<T>(work: Promise<T>, ms: number): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function view(delivery: Delivery, result: Tried | NotTried | { outcome: 'no_time' }) {
  const { artifactId, receivedAt, sandbox, status } = delivery;
  const shown = { artifact_id: artifactId, received_at: instant(receivedAt), sandbox, status };
  if (result.outcome !== 'tried') return { ...shown, tried: null, left_out: result.outcome };
  const { outcome: _, newlyRejected, rejections, ...tried } = result;
  const more = { newly_rejected: newlyRejected, rejections: [...rejections] };
  return { ...shown, tried: { ...tried, ...more }, left_out: null };
}
