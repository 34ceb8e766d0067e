/** A test by its file, without its ending, and its title as it stands there. */
export interface Case {
  readonly file: string;
  readonly title: string;
}

/** One sentence of the specification, in own words, and what holds it. */
export interface Row {
  readonly says: string;
  readonly cases: readonly Case[];
}

export interface Section {
  /** A heading of the specification. */
  readonly heading: string;
  readonly rows: readonly Row[];
}

export function section(heading: string, ...rows: readonly Row[]): Section {
  return { heading, rows };
}

export function row(says: string, ...cases: readonly (readonly Case[])[]): Row {
  return { says, cases: cases.flat() };
}

/** Titles of one file. */
export function at(file: string, ...titles: readonly string[]): Case[] {
  return titles.map((title) => ({ file, title }));
}
