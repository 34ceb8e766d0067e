import { dayToText } from '../../src/domain/periods.ts';

/** The idempotency key of delivery number `n`. */
export function deliveryKey(n: number): string {
  return `bench-${n}`;
}

/** Push number `n`: a JSON body of exactly so many bytes. */
export function pushBody(n: number, bytes: number): string {
  const body = (note: string) =>
    JSON.stringify({
      idempotency_key: deliveryKey(n),
      shape_version: 1,
      payload: {
        day: dayToText(Math.floor(Date.now() / 86_400_000) - (n % 731)),
        device: `device-${n % 16}`,
        place: `place-${n % 1_000}`,
        visits: String(n),
        revenue: `${n}.25`,
        note,
      },
    });
  return body('x'.repeat(Math.max(0, bytes - body('').length)));
}
