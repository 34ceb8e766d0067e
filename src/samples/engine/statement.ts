/** Pure rules about the text of a statement: what kind it is, and how values are put into it. */

/**
 * Who runs a statement. Reads share several sessions; inserts have one; whatever may take long
 * (DDL, merges, INSERT … SELECT) has another, so that neither waits for it.
 */
export type Lane = 'read' | 'write' | 'maintenance';

const leading = /^(?:\s+|--[^\n]*(?:\n|$)|\/\*[\s\S]*?\*\/)*/;

/** The first word of a statement in capitals, comments passed over. */
export function firstWord(sql: string): string {
  const rest = sql.slice(leading.exec(sql)![0].length);
  return /^\w*/.exec(rest)![0].toUpperCase();
}

const reading = new Set(['SELECT', 'WITH', 'SHOW', 'DESCRIBE', 'DESC', 'EXPLAIN', 'EXISTS']);

export function laneOf(sql: string): Lane {
  return reading.has(firstWord(sql)) ? 'read' : 'maintenance';
}

/** An INSERT whose rows come as the request's body. */
export interface RawInsert {
  readonly table: string;
  readonly columns: readonly string[] | undefined;
  readonly format: string;
}

const name = '`?\\w+`?';
const insertHead = new RegExp(
  `^INSERT\\s+INTO\\s+(?:TABLE\\s+)?(${name}(?:\\.${name})?)\\s*(?:\\(([^)]*)\\))?\\s*` +
    `FORMAT\\s+(\\w+)\\s*;?\\s*$`,
  'i',
);

/** Reads the head of an INSERT with rows in the body; null when the text is anything else. */
export function rawInsert(sql: string): RawInsert | null {
  const match = insertHead.exec(sql.slice(leading.exec(sql)![0].length));
  if (match === null) return null;
  const plain = (text: string) => text.replaceAll('`', '').trim();
  const columns = match[2]?.split(',').map(plain);
  return { table: plain(match[1]!), columns, format: match[3]! };
}

/** Writes text as a string literal of SQL. */
export function literal(text: string): string {
  // NUL becomes the two characters \0: parameters are unescaped once more than other literals,
  // and a setting never holds one.
  return `'${text.replace(/['\\]/g, '\\$&').replaceAll('\0', '\\\\0')}'`;
}

/** Whether the text asks for the parameter `{name:Type}`. */
export function asksFor(sql: string, parameter: string): boolean {
  return new RegExp(`\\{\\s*${parameter}\\s*:`).test(sql);
}
