import { ApiError } from '../../domain/errors.ts';
import type { RateVerdict } from '../../domain/rates.ts';
import type { ServiceRates } from '../../rates/rates.ts';
import { Gather } from '../../std/gather.ts';
import type { Take } from './messages.ts';

/**
 * Rates of one bucket for all processes: the supervisor has the buckets, and is asked for all that
 * comes while it answers in one message.
 *
 * Failure: a supervisor that does not answer in time (it stands still) refuses nobody for good:
 * 503, try again. One that is gone takes this process along.
 *
 * @param ask the supervisor; the verdicts come in the order of the takes
 */
export function supervisedRates(
  ask: (takes: readonly Take[]) => Promise<readonly RateVerdict[]>,
): ServiceRates {
  const gather = new Gather<Take, RateVerdict>(async (takes) => {
    try {
      return await ask(takes);
    } catch (cause) {
      throw new ApiError(503, 'internal', 'The service is busy. Try again in a moment.', {
        headers: { 'Retry-After': '1' },
        cause,
      });
    }
  });
  return {
    take: (bucket, rule) => gather.add({ bucket, rule }),
    isLocal: () => false,
    close: () => gather.idle(),
  };
}
