import { address } from '../address.ts';

/** What the list is narrowed to, as it stands in the address of the page. */
export interface ListFilter {
  readonly status?: string;
  /** RFC 3339. */
  readonly from?: string;
  readonly to?: string;
  readonly key?: string;
  readonly sandbox?: string;
  readonly conflicting?: string;
  readonly rejecting?: string;
  /** The page, by its cursor. */
  readonly before?: string;
}

const times = ['from', 'to'];
const marks = ['sandbox', 'conflicting', 'rejecting'];
const names = ['status', ...times, 'key', ...marks, 'before'];

/** @param query of the page's address; what is no part of a filter is passed over */
export function filterIn(query: Readonly<Record<string, string>>): ListFilter {
  return Object.fromEntries(names.flatMap((name) => (query[name] ? [[name, query[name]]] : [])));
}

/** The address of a list; a change of the filter begins with its first page. */
export function listAddress(sourceId: string, filter: ListFilter, change: ListFilter = {}): string {
  const first = 'before' in change ? {} : { before: '' };
  return address(`/sources/${sourceId}/deliveries`, { ...filter, ...first, ...change });
}

/** The filter as the app API takes it. */
export function asQuery({ from, to, ...same }: ListFilter): Record<string, string> {
  return { ...same, ...(from && { received_from: from }), ...(to && { received_before: to }) };
}

/** Whether anything is narrowed, but for the page. */
export function narrows({ before: _, ...filter }: ListFilter): boolean {
  return Object.keys(filter).length > 0;
}

/** An instant as an input of the type `datetime-local` has it: the reader's own clock. */
export function asLocal(instant: string | undefined): string {
  const at = instant === undefined ? Number.NaN : Date.parse(instant);
  if (Number.isNaN(at)) return '';
  return new Date(at - new Date(at).getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

/** @param local of such an input; empty where none is chosen */
export function fromLocal(local: string): string {
  const at = local === '' ? Number.NaN : Date.parse(local);
  return Number.isNaN(at) ? '' : new Date(at).toISOString();
}
