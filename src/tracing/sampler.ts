import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace';
import type { TracingLog } from './open.ts';

const parentBased = 'parentbased_';

/**
 * The sampler of `OTEL_TRACES_SAMPLER` and `OTEL_TRACES_SAMPLER_ARG`, which this SDK leaves to who
 * uses it (OpenTelemetry specification, "General SDK Configuration"). What is unknown is logged
 * and counts as unset: `parentbased_always_on`, and all of a ratio.
 */
export function samplerOf(env: NodeJS.ProcessEnv, log: TracingLog): Sampler {
  const name = env.OTEL_TRACES_SAMPLER?.trim().toLowerCase() || `${parentBased}always_on`;
  const isParentBased = name.startsWith(parentBased);
  const root = rootSampler(isParentBased ? name.slice(parentBased.length) : name, env, log);
  if (root !== null) return isParentBased ? new ParentBasedSampler({ root }) : root;
  log.warn({}, 'OTEL_TRACES_SAMPLER names no sampler: every trace is recorded');
  return new ParentBasedSampler({ root: new AlwaysOnSampler() });
}

function rootSampler(name: string, env: NodeJS.ProcessEnv, log: TracingLog): Sampler | null {
  if (name === 'always_on') return new AlwaysOnSampler();
  if (name === 'always_off') return new AlwaysOffSampler();
  if (name !== 'traceidratio') return null;
  const text = env.OTEL_TRACES_SAMPLER_ARG?.trim() || '1';
  const ratio = Number(text);
  if (ratio >= 0 && ratio <= 1) return new TraceIdRatioBasedSampler(ratio);
  log.warn({}, 'OTEL_TRACES_SAMPLER_ARG is no ratio from 0 to 1: every trace is recorded');
  return new TraceIdRatioBasedSampler(1);
}
