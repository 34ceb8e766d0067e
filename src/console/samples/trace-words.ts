import type { AnswerOf } from '../../domain/api/app/endpoint.ts';
import type { readTrace } from '../../domain/api/app/samples.ts';
import { labelsTold } from './filter.ts';

export type TraceAnswer = AnswerOf<typeof readTrace>;

const ways = { push: 'push', document: 'document', webhook: 'webhook delivery' } as const;

/**
 * The whole chain in one sentence: the value, its record, its delivery, what it took the place of.
 *
 * @param received when the delivery was received, as it is to be read
 */
export function chainTold(trace: TraceAnswer, received: string): string {
  const { sample, delivery, superseded } = trace;
  const labels = labelsTold(sample.labels);
  const what = `${sample.metric} of the period from ${sample.period_start}`;
  const of = labels === '' ? what : `${what} (${labels})`;
  const [name] = delivery.idempotency_keys;
  const named = name === undefined ? '' : ` named ${name}`;
  const earlier = superseded.slice(0, 3).map(({ value }) => value);
  const more = superseded.length > 3 ? ` and ${superseded.length - 3} more` : '';
  const before =
    earlier.length === 0
      ? 'no other value was there before'
      : `it took the place of ${earlier.join(', ')}${more}`;
  return (
    `The ${sample.sandbox ? 'sandbox ' : ''}value ${sample.value} of ${of} stands in ` +
    `${placeTold(trace)} of the ${ways[delivery.delivery]}${named} received ${received}; ` +
    `${before}.`
  );
}

/** Where a record lies in its body. */
export function placeTold({ record, line, byte_range: bytes }: TraceAnswer): string {
  const where = [
    ...(line === null ? [] : [`line ${line}`]),
    ...(bytes === null ? [] : [`bytes ${bytes.from} to ${bytes.to - 1}`]),
  ];
  return where.length === 0 ? `record ${record}` : `record ${record} (${where.join(', ')})`;
}
