/** The sender's span, as its request names it (W3C Trace Context, section 3.2). */
export interface RemoteSpan {
  /** 32 hex digits, not all zero. */
  readonly traceId: string;
  /** 16 hex digits, not all zero. */
  readonly spanId: string;
  readonly sampled: boolean;
}

const version0 = /^00-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})$/;
/** Of a later version the same parts are read, whatever stands behind them. */
const later = /^(?!00|ff)[0-9a-f]{2}-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(?:-.*)?$/;
const zeros = /^0+$/;
const sampledFlag = 1;

/** @returns null for what is no traceparent: the trace then begins here */
export function remoteSpan(traceparent: string | null): RemoteSpan | null {
  const found = version0.exec(traceparent ?? '') ?? later.exec(traceparent ?? '');
  if (found === null) return null;
  const [, traceId, spanId, flags] = found as unknown as [string, string, string, string];
  if (zeros.test(traceId) || zeros.test(spanId)) return null;
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & sampledFlag) === sampledFlag };
}
