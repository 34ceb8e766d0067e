/**
 * Conditions that hold for rows whose labels hold these. The first of each label is quick and
 * leaves few over; what it lets through by chance the others refuse. Values are compared as text:
 * ClickHouse writes some characters of JSON otherwise than `JSON.stringify` does.
 */
export function heldLabels(labels: Readonly<Record<string, string>>): {
  readonly conditions: readonly string[];
  readonly params: Readonly<Record<string, string>>;
} {
  const entries = Object.entries(labels);
  const conditions = entries.flatMap((_, i) => [
    `position(labels_json, {label${i}:String}) > 0`,
    `JSONHas(labels_json, {name${i}:String})`,
    `JSONExtractString(labels_json, {name${i}:String}) = {text${i}:String}`,
  ]);
  const params = entries.flatMap(([name, text], i) => [
    [`label${i}`, `${JSON.stringify(name)}:${JSON.stringify(text)}`],
    [`name${i}`, name],
    [`text${i}`, text],
  ]);
  return { conditions, params: Object.fromEntries(params) };
}
