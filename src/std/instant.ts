/** A time in milliseconds since 1970 as RFC 3339 text in UTC; null stays null. */
export function instant(ms: number): string;
export function instant(ms: number | null): string | null;
export function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
