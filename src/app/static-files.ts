import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import { acceptsCoding } from '../http/encodings.ts';
import { etagOf } from '../http/etag.ts';

/** The codings in which the build leaves a file, and what it appends to the file's name. */
const codings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const;

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};

/** One file in one coding. */
export interface Variant {
  readonly body: Uint8Array;
  /** Null: as it is. */
  readonly coding: string | null;
  readonly etag: string;
}

/** A file of the build, in each coding that is there, the smallest first. */
export interface StaticFile {
  readonly type: string;
  readonly variants: readonly Variant[];
}

/** Path below the directory, from `/` → file. */
export type StaticFiles = ReadonlyMap<string, StaticFile>;

/**
 * Reads a whole build into memory, once: a later build of the same directory changes nothing for
 * who loads a page and then its parts. Null: there is no build.
 *
 * @throws Error when it holds a file of a kind that no page has
 */
export function readStaticFiles(directory: string): StaticFiles | null {
  if (!existsSync(join(directory, 'index.html'))) return null;
  const names = readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(directory.length).replace(/^\/?/, '/'))
    .filter((name) => !codings.some(([, suffix]) => name.endsWith(suffix)));
  return new Map(names.map((name) => [name, readStaticFile(join(directory, name))]));
}

function readStaticFile(path: string): StaticFile {
  const type = types[extname(path)];
  if (type === undefined) throw new Error(`${path}: pages are not made of such files`);
  const coded = codings
    .filter(([, suffix]) => existsSync(path + suffix))
    .map(([coding, suffix]) => variantOf(coding, readFileSync(path + suffix)));
  return { type, variants: [...coded, variantOf(null, readFileSync(path))] };
}

function variantOf(coding: string | null, body: Uint8Array): Variant {
  return { coding, body, etag: etagOf(body) };
}

/** The smallest of a file's variants that a reader takes. */
export function variantFor(file: StaticFile, acceptEncoding: string | undefined): Variant {
  return file.variants.find(
    ({ coding }) => coding === null || acceptsCoding(acceptEncoding, coding),
  )!;
}
