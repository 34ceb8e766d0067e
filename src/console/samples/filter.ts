import { address } from '../address.ts';

/** Which samples are looked at: what stands in the address of the page. */
export interface SamplesFilter {
  /** Empty: the first one. */
  readonly metric: string;
  /** Dates, or empty. */
  readonly from: string;
  readonly to: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
  /** Where the table's page begins; empty: at the newest. */
  readonly after: string;
}

/** The choice of all metrics, which no metric can be named as. */
export const everyMetric = '*';

export function filterIn(query: Readonly<Record<string, string>>): SamplesFilter {
  const { metric = '', from = '', to = '', after = '' } = query;
  return { metric, from, to, after, labels: labelsIn(query), sandbox: query.sandbox === 'true' };
}

/** As `labels` of an address has them; none where it is not understood. */
export function labelsIn({ labels }: Readonly<Record<string, string>>): Record<string, string> {
  try {
    const found: unknown = JSON.parse(labels ?? '{}');
    if (typeof found !== 'object' || found === null) return {};
    return Object.fromEntries(Object.entries(found).map(([name, text]) => [name, String(text)]));
  } catch {
    return {};
  }
}

/** What the app API is asked with: the same names as in the page's address. */
export function asQuery({ metric, from, to, labels, sandbox }: Omit<SamplesFilter, 'after'>) {
  return {
    metric: metric === everyMetric ? undefined : metric,
    ...{ from, to, labels: labelsText(labels), sandbox: sandbox || undefined },
  };
}

/** Another choice begins at the newest sample again, unless it says where. */
export function pageAddress(
  sourceId: string,
  filter: SamplesFilter,
  change: Partial<SamplesFilter> = {},
): string {
  const { metric, from, to, labels, sandbox, after } = { ...filter, after: '', ...change };
  const query = { metric, from, to, labels: labelsText(labels), sandbox: sandbox || undefined };
  return address(`/sources/${sourceId}/samples`, { ...query, after });
}

export interface SampleName {
  readonly metric: string;
  readonly period_start: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly sandbox: boolean;
}

/** The page that leads a sample back to its bytes. */
export function traceAddress(sourceId: string, sample: SampleName): string {
  const { metric, period_start: period, labels, sandbox } = sample;
  const query = { metric, period, labels: labelsText(labels), sandbox: sandbox || undefined };
  return address(`/sources/${sourceId}/samples/trace`, query);
}

function labelsText(labels: Readonly<Record<string, string>>): string {
  return Object.keys(labels).length === 0 ? '' : JSON.stringify(labels);
}

/** Labels as a person reads them. */
export function labelsTold(labels: Readonly<Record<string, string>>): string {
  const told = Object.entries(labels).map(([name, text]) => `${name} ${text === '' ? '""' : text}`);
  return told.join(', ');
}

const dayMs = 86_400_000;

/** A date so many days later. */
export function dayLater(day: string, days: number): string {
  return new Date(Date.parse(`${day}T00:00:00Z`) + days * dayMs).toISOString().slice(0, 10);
}
