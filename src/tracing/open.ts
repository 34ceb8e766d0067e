import { noTracing, type Tracing } from './tracing.ts';

export interface TracingLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/**
 * Traces when OpenTelemetry's own environment says where to: `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`
 * or `OTEL_EXPORTER_OTLP_ENDPOINT`. OpenTelemetry is loaded only then. What is wrong in these
 * names is logged, and never stops the service.
 */
export async function openTracing(env: NodeJS.ProcessEnv, log: TracingLog): Promise<Tracing> {
  const own = env.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT?.trim();
  const endpoint = own || env.OTEL_EXPORTER_OTLP_ENDPOINT?.trim();
  const isOff = env.OTEL_SDK_DISABLED?.trim().toLowerCase() === 'true';
  if (!endpoint || isOff || env.OTEL_TRACES_EXPORTER?.trim() === 'none') return noTracing;
  if (!URL.canParse(endpoint) || !/^https?:$/.test(new URL(endpoint).protocol)) {
    log.warn({}, 'nothing is traced: the OTLP endpoint is no http:// or https:// address');
    return noTracing;
  }
  const { otelTracing } = await import('./otel.ts');
  return otelTracing(env, log);
}
