import { expect, test } from 'vitest';
import { remoteSpan } from '../../src/tracing/traceparent.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const spanId = '00f067aa0ba902b7';

test.each([
  ['a sampled span', `00-${traceId}-${spanId}-01`, true],
  ['one that is not sampled', `00-${traceId}-${spanId}-00`, false],
  ['flags that nobody knows yet', `00-${traceId}-${spanId}-fe`, false],
  ['a later version', `01-${traceId}-${spanId}-01`, true],
  ['a later version with more in it', `cc-${traceId}-${spanId}-01-what-the-future`, true],
])('%s is read', (_, traceparent, sampled) => {
  expect(remoteSpan(traceparent)).toEqual({ traceId, spanId, sampled });
});

test.each([
  ['no header', null],
  ['an empty one', ''],
  ['another text', 'c4nary'],
  ['upper case', `00-${traceId.toUpperCase()}-${spanId}-01`],
  ['a trace id of zeros', `00-${'0'.repeat(32)}-${spanId}-01`],
  ['a span id of zeros', `00-${traceId}-${'0'.repeat(16)}-01`],
  ['a short trace id', `00-${traceId.slice(1)}-${spanId}-01`],
  ['more in the first version', `00-${traceId}-${spanId}-01-more`],
  ['the version that never is', `ff-${traceId}-${spanId}-01`],
  ['a later version that goes on without a dash', `01-${traceId}-${spanId}-01more`],
  ['a line of two', `00-${traceId}-${spanId}-01\n`],
])('%s is none', (_, traceparent) => {
  expect(remoteSpan(traceparent)).toBeNull();
});
