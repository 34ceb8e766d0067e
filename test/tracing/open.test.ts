import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { openTracing } from '../../src/tracing/open.ts';
import { noTracing } from '../../src/tracing/tracing.ts';

const warned: string[] = [];
const log = { info() {}, warn: (_: object, message: string) => void warned.push(message) };
const OTEL_EXPORTER_OTLP_ENDPOINT = 'http://127.0.0.1:9';

test.each([
  ['no endpoint', {}],
  ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
  ['the SDK disabled', { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_SDK_DISABLED: 'true' }],
  ['no exporter', { OTEL_EXPORTER_OTLP_ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }],
])('with %s nothing is traced, and nothing said', async (_, env) => {
  warned.length = 0;
  expect(await openTracing(env, log)).toBe(noTracing);
  expect(warned).toEqual([]);
});

test.each(['collector:4318', 'nowhere', 'file:///etc/passwd'])(
  'an endpoint that is none (%s) is told, and the service goes on',
  async (endpoint) => {
    warned.length = 0;
    const env = { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: endpoint };
    expect(await openTracing(env, log)).toBe(noTracing);
    expect(warned).toEqual([
      'nothing is traced: the OTLP endpoint is no http:// or https:// address',
    ]);
  },
);

test('off, everything goes through untouched', () => {
  const given = {};
  for (const wrap of ['uploads', 'keeper', 'ledger', 'pool', 'rows'] as const) {
    expect((noTracing[wrap] as (whole: object) => object)(given)).toBe(given);
  }
  expect(noTracing.answered).toBeNull();
});

test('OpenTelemetry is loaded by what is loaded only when it is on', () => {
  const text = (name: string) =>
    readFileSync(new URL(`../../src/tracing/${name}.ts`, import.meta.url), 'utf8');
  for (const name of ['tracing', 'open', 'steps', 'traceparent']) {
    expect(text(name)).not.toMatch(/from '@opentelemetry|from '\.\/(otel|sampler)\.ts'/);
  }
  expect(text('open')).toContain("await import('./otel.ts')");
});
