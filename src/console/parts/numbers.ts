const whole = new Intl.NumberFormat('en');

/** A count with thousands apart. */
export function count(n: number): string {
  return whole.format(n);
}

/** A count that stops at a number, which then stands for that many or more. */
export function countUpTo(n: number, max: number): string {
  return n >= max ? `${count(max)} or more` : count(n);
}

/** So many bytes, in the largest unit that leaves a number above one. */
export function bytes(n: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  const power = Math.min(units.length - 1, n < 1 ? 0 : Math.floor(Math.log2(n) / 10));
  const value = n / 1024 ** power;
  return `${power === 0 ? value : value.toFixed(value < 10 ? 1 : 0)} ${units[power]}`;
}
