/** A guide: Markdown as `parts/markdown.ts` reads it. */
export interface Guide {
  readonly title: string;
  /** One sentence for the list. */
  readonly summary: string;
  /**
   * Commands stand in fences of `sh`, `js` or `python`; lines `export NAME="<…>"` hold what only
   * the reader has.
   */
  text(api: string): string;
}
