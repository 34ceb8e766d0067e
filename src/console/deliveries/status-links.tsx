import type { listDeliveries } from '../../domain/api/app/deliveries.ts';
import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import { countedMax } from '../../domain/counted.ts';
import { countUpTo } from '../parts/numbers.ts';
import { type ListFilter, listAddress } from './filter.ts';

type Counts = AnswerOf<typeof listDeliveries>['counts'];

const statuses = ['queued', 'parsing', 'parsed', 'rejected'] as const;
/** The states with how many deliveries each has; a state leads to its list. */
export function StatusLinks(props: {
  sourceId: string;
  filter: ListFilter;
  counts: Counts | null;
}) {
  const { sourceId, filter } = props;
  // They are of the time and the sandbox that are chosen, and would be wrong beside the rest.
  const counts = filter.key || filter.rejecting || filter.conflicting ? null : props.counts;
  const link = (status: string, name: string, counted: string) => (
    <a
      href={listAddress(sourceId, filter, { status })}
      aria-current={(filter.status ?? '') === status ? 'true' : undefined}
    >
      {name} <span class="quiet">{counted}</span>
    </a>
  );
  return (
    <nav class="states" aria-label="State">
      {link('', 'all', '')}
      {statuses.map((status) =>
        link(status, status, counts ? countUpTo(counts[status], countedMax.status) : ''),
      )}
    </nav>
  );
}
