/**
 * What the app reads of samples beside the window reads of the API: pages of a table, series for a
 * chart, and what there is to choose from. All of it shows what is current, superseded samples
 * left out. A store that cannot be reached throws `SamplesAway`.
 */
export interface SampleExplorer {
  /** Metrics that have samples, by key. These two may know one for a while whose last is gone. */
  metrics(sourceId: string): Promise<FoundMetric[]>;
  /** Label sets of a metric, by the labels' text; at most `limit` of them. */
  labelSets(sourceId: string, metric: string, limit: number): Promise<string[]>;
  /** Points to be drawn, of the label sets with the most samples. */
  series(query: SeriesQuery): Promise<SeriesAnswer>;
  /**
   * Samples after a place, at most `limit`. Order: day descending, metric, labels (canonical JSON
   * as UTF-8 bytes), sandbox; that of the API.
   */
  page(filter: SampleFilter, page: PageQuery): Promise<PlacedSample[]>;
  close(): Promise<void>;
}

/** Which samples of a source are meant: those for which all that is said holds. */
export interface SampleFilter {
  readonly sourceId: string;
  /** Absent: all. */
  readonly metrics?: readonly string[];
  /** First day, inclusive; days since 1970-01-01. */
  readonly fromDay?: number;
  /** The day after the last. */
  readonly toDay?: number;
  /** Labels that the sample's hold. */
  readonly labels: Readonly<Record<string, string>>;
  /** With those of sandbox keys. */
  readonly sandbox: boolean;
}

/** Where a sample stands in the order; no two of a source stand at the same place. */
export interface SamplePlace {
  readonly day: number;
  readonly metric: string;
  readonly labelsJson: string;
  readonly sandbox: boolean;
}

export interface PlacedSample extends SamplePlace {
  /** Exactly as it came. */
  readonly value: string;
  readonly artifactId: string;
}

export interface PageQuery {
  readonly limit: number;
  readonly after?: SamplePlace;
}

export interface FoundMetric {
  readonly metric: string;
  readonly hasSandbox: boolean;
  /** Sandbox samples counted in. */
  readonly firstDay: number;
  readonly lastDay: number;
}

export interface SeriesQuery {
  /** Of one metric. */
  readonly filter: SampleFilter;
  readonly seriesMax: number;
  /** Of one series. Days are put together until no more come. */
  readonly pointsMax: number;
}

export interface SeriesAnswer {
  /** So many days are one point. */
  readonly bucketDays: number;
  readonly series: readonly SampleSeries[];
  /** How many label sets there are. */
  readonly total: number;
}

export interface SampleSeries {
  readonly labelsJson: string;
  readonly sandbox: boolean;
  /** From the oldest. */
  readonly points: readonly SeriesPoint[];
}

/** The samples of some days. The values are numbers to be drawn: long decimals lose digits. */
export interface SeriesPoint {
  readonly firstDay: number;
  readonly lastDay: number;
  readonly min: number;
  readonly max: number;
  /** Of the last day. */
  readonly last: number;
  readonly samples: number;
}
