import { ROOT_CONTEXT, SpanKind, TraceFlags, trace } from '@opentelemetry/api';
import { expect, test } from 'vitest';
import { samplerOf } from '../../src/tracing/sampler.ts';

const warned: string[] = [];
const log = { info() {}, warn: (_: object, message: string) => void warned.push(message) };

/** Of 1,000 artifact ids, the share that is recorded. */
function share(env: NodeJS.ProcessEnv, sender?: 'sampled' | 'not sampled'): number {
  const sampler = samplerOf(env, log);
  let recorded = 0;
  for (let i = 1; i <= 1_000; i++) {
    const traceId = (BigInt(i) * 0x9e3779b97f4a7c15f39cc0605cedc835n).toString(16).slice(-32);
    const parent = { traceId, spanId: '00f067aa0ba902b7', isRemote: true };
    const traceFlags = sender === 'sampled' ? TraceFlags.SAMPLED : TraceFlags.NONE;
    const context = sender
      ? trace.setSpanContext(ROOT_CONTEXT, { ...parent, traceFlags })
      : ROOT_CONTEXT;
    const { decision } = sampler.shouldSample(context, traceId, 'accept', SpanKind.SERVER, {}, []);
    recorded += decision === 2 ? 1 : 0;
  }
  return recorded / 1_000;
}

test.each([
  ['nothing set', {}, 1, 1, 0],
  ['always_on', { OTEL_TRACES_SAMPLER: 'always_on' }, 1, 1, 1],
  ['always_off', { OTEL_TRACES_SAMPLER: 'always_off' }, 0, 0, 0],
  [
    'a ratio',
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.1' },
    0.1,
    0.1,
    0.1,
  ],
  ['parentbased_always_off', { OTEL_TRACES_SAMPLER: 'parentbased_always_off' }, 0, 1, 0],
  [
    'a ratio below a parent',
    { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.5' },
    ...[0.5, 1, 0],
  ],
] as const)('with %s so much is recorded of what comes', (_, env, alone, sampled, not) => {
  warned.length = 0;
  expect(share(env)).toBeCloseTo(alone, 1);
  expect(share(env, 'sampled')).toBeCloseTo(sampled, 1);
  expect(share(env, 'not sampled')).toBeCloseTo(not, 1);
  expect(warned).toEqual([]);
});

test.each([
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER names no sampler'],
  [
    { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '7%' },
    'OTEL_TRACES_SAMPLER_ARG is no ratio from 0 to 1',
  ],
])('what no sampler is (%o) is told, and all is recorded', (env, message) => {
  warned.length = 0;
  expect(share(env)).toBe(1);
  expect(warned).toEqual([expect.stringContaining(message)]);
});
