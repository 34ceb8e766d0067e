import { setTimeout as sleep } from 'node:timers/promises';
import {
  type Attributes,
  type Context,
  DiagLogLevel,
  diag,
  type Link,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  RandomIdGenerator,
  type Sampler,
  SamplingDecision,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { TracingLog } from './open.ts';
import { samplerOf } from './sampler.ts';
import { type Step, tracedSteps } from './steps.ts';
import { type RemoteSpan, remoteSpan } from './traceparent.ts';
import type { Answered, Tracing } from './tracing.ts';

const closeWaitMs = 2_000;

/**
 * Traces by OpenTelemetry, over OTLP/HTTP with JSON.
 *
 * Spans are made when what they tell of is over, with the times it took: nothing is carried through
 * the work itself, and a delivery that is not sampled costs one look at its id.
 *
 * Failure: what is over waits for its export in a queue of 2,048 spans (`OTEL_BSP_MAX_QUEUE_SIZE`)
 * and is dropped beyond. As many again may be under way to a backend that hangs, each export for
 * 10 s (`OTEL_EXPORTER_OTLP_TIMEOUT`). One that is away costs no more, and is logged once.
 */
export function otelTracing(env: NodeJS.ProcessEnv, log: TracingLog): Tracing {
  const quiet = () => {};
  // Failures of exports come by `toldExporter`; what else there is to say is worth a line.
  diag.setLogger(
    {
      ...{ error: quiet, info: quiet, debug: quiet, verbose: quiet },
      warn: (message) => log.warn({}, message),
    },
    { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true },
  );
  const protocol = env.OTEL_EXPORTER_OTLP_TRACES_PROTOCOL ?? env.OTEL_EXPORTER_OTLP_PROTOCOL;
  if (protocol && !protocol.startsWith('http/')) {
    log.warn({}, 'traces are sent over OTLP/HTTP, whatever OTEL_EXPORTER_OTLP_PROTOCOL says');
  }
  const sampler = samplerOf(env, log);
  const ids = new Ids();
  const options = batchOptions(env);
  const underWayMax = Math.ceil(options.maxQueueSize / options.maxExportBatchSize);
  const exportLimits = { underWayMax, waitMs: options.exportTimeoutMillis };
  const exporter = toldExporter(new OTLPTraceExporter(), exportLimits, log);
  const queue = new BatchSpanProcessor({ exporter, ...options });
  const provider = new TracerProvider({
    ...{ sampler, idGenerator: ids, spanProcessors: [queue] },
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'weir' }))
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, envDetector] })),
  });
  const spans = new Spans(provider.getTracer('weir'), sampler, ids);
  log.info({}, 'deliveries are traced');
  return {
    ...tracedSteps({ step: (step) => spans.step(step) }),
    answered: (answer) => spans.answered(answer),
    async close() {
      const giveUp = new AbortController();
      const late = sleep(closeWaitMs, undefined, { signal: giveUp.signal }).catch(quiet);
      // What is left behind was logged when its export failed.
      await Promise.race([provider.shutdown().catch(quiet), late]);
      giveUp.abort();
    },
  };
}

/** Makes spans of what is over. */
class Spans {
  readonly #tracer: Tracer;
  readonly #sampler: Sampler;
  readonly #ids: Ids;
  readonly #clock = new EpochClock();

  constructor(tracer: Tracer, sampler: Sampler, ids: Ids) {
    this.#tracer = tracer;
    this.#sampler = sampler;
    this.#ids = ids;
  }

  step({ name, artifactId, began, attributes, failure }: Step): void {
    const root = rootOf(artifactId);
    if (!this.#isSampled(root.traceId)) return;
    this.#span(name, began, { attributes, failure, parent: contextOf(root) });
  }

  answered(answer: Answered): void {
    const { receiptOf, status } = answer;
    if (receiptOf === null && status < 500) return;
    const sender = remoteSpan(answer.traceparent);
    const root = receiptOf && rootOf(receiptOf.artifactId);
    const isNew = receiptOf?.bytes !== undefined;
    const about = { attributes: answerAttributes(answer), kind: SpanKind.SERVER };
    const failure = status >= 500 ? String(status) : null;
    const request = `${answer.method} ${answer.route}`;
    const one = { ...about, failure };
    // Known before they are made: each names the other.
    const inSenders = sender && { ...senderSpan(sender), spanId: this.#ids.generateSpanId() };
    if (root && isNew && this.#isSampled(root.traceId)) {
      this.#ids.next = root;
      this.#span('accept', answer.began, { ...one, linked: inSenders });
    }
    if (sender && inSenders) {
      this.#ids.next = inSenders;
      const parent = contextOf(senderSpan(sender));
      this.#span(request, answer.began, { ...one, parent, linked: root });
    } else if (!isNew) {
      this.#span(root ? 'accept' : request, answer.began, { ...one, linked: root });
    }
  }

  #span(
    name: string,
    began: number,
    about: {
      readonly attributes: Attributes;
      readonly failure: string | null;
      readonly kind?: SpanKind;
      readonly parent?: Context;
      readonly linked?: SpanContext | null;
    },
  ): void {
    const links: Link[] = about.linked ? [{ context: about.linked }] : [];
    const { attributes, kind = SpanKind.INTERNAL, parent = ROOT_CONTEXT } = about;
    const startTime = this.#clock.at(began);
    const span = this.#tracer.startSpan(name, { startTime, attributes, kind, links }, parent);
    this.#ids.next = null;
    if (about.failure !== null) {
      span.setStatus({ code: SpanStatusCode.ERROR });
      span.setAttribute('error.type', about.failure);
    }
    span.end(this.#clock.at(performance.now()));
  }

  /** As the sampler says of a trace that begins here: so all processes say the same of it. */
  #isSampled(traceId: string): boolean {
    const kind = SpanKind.SERVER;
    const { decision } = this.#sampler.shouldSample(ROOT_CONTEXT, traceId, 'accept', kind, {}, []);
    return decision === SamplingDecision.RECORD_AND_SAMPLED;
  }
}

/** The span that all others of a delivery hang from: `accept` (`tracing.ts`). */
function rootOf(artifactId: string): SpanContext {
  const traceId = artifactId.replaceAll('-', '');
  return { traceId, spanId: traceId.slice(16), traceFlags: TraceFlags.SAMPLED };
}

function senderSpan({ traceId, spanId, sampled }: RemoteSpan): SpanContext {
  return { traceId, spanId, traceFlags: sampled ? TraceFlags.SAMPLED : TraceFlags.NONE };
}

/** As the parent of what follows, which is made elsewhere. */
function contextOf(parent: SpanContext): Context {
  return trace.setSpanContext(ROOT_CONTEXT, { ...parent, isRemote: true });
}

function answerAttributes({ method, route, status, receiptOf }: Answered): Attributes {
  const request = {
    'http.request.method': method,
    'http.route': route,
    'http.response.status_code': status,
  };
  if (receiptOf === null) return { ...request, 'weir.outcome': 'failed' };
  const { artifactId, bytes, delivery } = receiptOf;
  const about = { ...request, 'weir.artifact_id': artifactId };
  if (bytes === undefined) return { ...about, 'weir.outcome': 'replayed' };
  return { ...about, 'weir.outcome': 'stored', 'weir.bytes': bytes, 'weir.way': delivery };
}

/** Random ids, but for a span whose ids stand already. */
class Ids implements IdGenerator {
  next: Pick<SpanContext, 'traceId' | 'spanId'> | null = null;
  readonly #random = new RandomIdGenerator();

  generateTraceId(): string {
    return this.next?.traceId ?? this.#random.generateTraceId();
  }

  generateSpanId(): string {
    return this.next?.spanId ?? this.#random.generateSpanId();
  }
}

/** Further away, the system's clock was set, or has gone another way than the process's. */
const apartMsMax = 20;

/** Times of the process's clock as times since 1970, in which no step comes before its parent. */
class EpochClock {
  #aheadMs = Date.now() - performance.now();

  at(ms: number): number {
    const aheadMs = Date.now() - performance.now();
    if (Math.abs(aheadMs - this.#aheadMs) > apartMsMax) this.#aheadMs = aheadMs;
    return ms + this.#aheadMs;
  }
}

/** As the OpenTelemetry specification names them, with its defaults for what is no number. */
function batchOptions(env: NodeJS.ProcessEnv) {
  const given = (name: string, otherwise: number) => {
    const value = Number(env[`OTEL_BSP_${name}`]);
    return Number.isInteger(value) && value > 0 ? value : otherwise;
  };
  const maxQueueSize = given('MAX_QUEUE_SIZE', 2_048);
  return {
    maxQueueSize,
    maxExportBatchSize: Math.min(given('MAX_EXPORT_BATCH_SIZE', 512), maxQueueSize),
    scheduledDelayMillis: given('SCHEDULE_DELAY', 5_000),
    exportTimeoutMillis: given('EXPORT_TIMEOUT', 30_000),
  };
}

/** ExportResultCode.FAILED of @opentelemetry/core, which weir does not depend on by itself. */
const failedCode = 1;

type ExportDone = Parameters<SpanExporter['export']>[1];

/**
 * Logs when exports begin to fail, and when they are taken again: once each. No more are under way
 * than a full queue makes: the SDK begins a further one with each that fails. One that gets its
 * answer byte by byte would never be over by itself.
 */
function toldExporter(
  exporter: SpanExporter,
  limits: { readonly underWayMax: number; readonly waitMs: number },
  log: TracingLog,
): SpanExporter {
  let isAway = false;
  let underWay = 0;
  let takenAt = Number.NEGATIVE_INFINITY;
  const tell = (began: number, error: Error | undefined) => {
    // What hung since before another was taken says nothing of now.
    if (error && !isAway && began > takenAt) {
      isAway = true;
      log.warn({ err: error }, 'spans cannot be exported');
    }
    if (error) return;
    takenAt = performance.now();
    if (isAway) log.info({}, 'spans are exported again');
    isAway = false;
  };
  return {
    export(spans, done) {
      if (underWay >= limits.underWayMax) {
        // Its spans are dropped, as those that meet a full queue.
        done({ code: failedCode });
        return;
      }
      const began = performance.now();
      underWay += 1;
      let isOver = false;
      const end: ExportDone = (result) => {
        if (isOver) return;
        isOver = true;
        clearTimeout(late);
        underWay -= 1;
        tell(began, result.error);
        done(result);
      };
      const error = new Error('the export was not over in time');
      const late = setTimeout(() => end({ code: failedCode, error }), limits.waitMs).unref();
      exporter.export(spans, end);
    },
    shutdown: () => exporter.shutdown(),
  };
}
