/**
 * Up to how many are counted where there may be any number: a count of so many stands for "so many
 * or more". Pages tell it so.
 */
export const countedMax = {
  /** Deliveries of one source, by state. */
  status: 10_000,
  /** Deliveries of a company, or of one of its sources, that wait or are being parsed. */
  backlog: 10_000,
  /** Conflicting redeliveries of one delivery, in a list. */
  conflicts: 1_000,
  /** Those, and its names, on its own page. */
  beside: 10_000,
} as const;
