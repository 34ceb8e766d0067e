/** An instant: how long ago it was, and exactly when for who points at it or reads the source. */
export function Time({ at, none = 'never' }: { at: string | null; none?: string }) {
  if (at === null) return <span class="quiet">{none}</span>;
  return (
    <time dateTime={at} title={exactly(at)}>
      {relative(Date.parse(at) - Date.now())}
    </time>
  );
}

/** An instant in the reader's own zone, to the second. */
export function exactly(at: string): string {
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' }).format(
    new Date(at),
  );
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1_000],
] as const;
const words = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** @param ms from now; before it when negative */
export function relative(ms: number): string {
  const [unit, size] = units.find(([, size]) => Math.abs(ms) >= size) ?? units[3];
  // What was made for 365 days has not 364 left a second later.
  const whole = ms < 0 ? Math.trunc(ms / size) : Math.round(ms / size);
  return words.format(whole, unit);
}
