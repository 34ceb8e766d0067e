export type Query = Readonly<Record<string, string | number | boolean | undefined>>;

/** An address with a query of what is neither undefined nor empty. */
export function address(path: string, query: Query = {}): string {
  const given = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== '') given.append(name, String(value));
  }
  const text = given.toString();
  return text === '' ? path : `${path}?${text}`;
}
