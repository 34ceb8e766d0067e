import { idempotencyKeyProblem } from './idempotency.ts';

/** What is wrong with a push, and the field it is about. */
export interface PushProblem {
  readonly field: string;
  readonly message: string;
}

/**
 * What the door needs to know of a JSON push. Plain data: it also crosses from the worker that
 * reads large ones.
 */
export type PushReading =
  | { readonly kind: 'unreadable'; readonly problem: PushProblem }
  | {
      readonly kind: 'envelope';
      readonly idempotencyKey: string;
      readonly shapeVersion: number | PushProblem;
      /** Null: the payload holds text only, and every name of `required`. */
      readonly payloadProblem: PushProblem | null;
    };

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/**
 * Reads the body of a JSON push (specification, "Delivery"; DECISIONS 6).
 *
 * @param required names that the payload must hold; null while the version is not known
 */
export function readPush(body: Uint8Array, required: readonly string[] | null): PushReading {
  const envelope = parseObject(body);
  if (envelope === null) {
    return unreadable('body', 'The body must be a JSON object in UTF-8.');
  }
  const key = envelope.idempotency_key;
  const keyProblem = idempotencyKeyProblem(key);
  if (keyProblem) return unreadable('idempotency_key', keyProblem);
  return {
    kind: 'envelope',
    idempotencyKey: key as string,
    shapeVersion: judgeVersion(envelope.shape_version),
    payloadProblem: judgePayload(envelope.payload, required),
  };
}

function unreadable(field: string, message: string): PushReading {
  return { kind: 'unreadable', problem: { field, message } };
}

function parseObject(body: Uint8Array): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(utf8.decode(body));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function judgeVersion(version: unknown): number | PushProblem {
  const field = 'shape_version';
  if (version === undefined) return { field, message: 'The shape version is missing.' };
  if (typeof version !== 'number' || !Number.isSafeInteger(version) || version < 1) {
    return { field, message: 'The shape version must be an integer of at least 1.' };
  }
  return version;
}

function judgePayload(payload: unknown, required: readonly string[] | null): PushProblem | null {
  if (payload === undefined) return { field: 'payload', message: 'The payload is missing.' };
  if (!isObject(payload)) return { field: 'payload', message: 'The payload must be an object.' };
  for (const name of Object.keys(payload)) {
    if (typeof payload[name] !== 'string') {
      return { field: `payload.${name}`, message: 'Every value of the payload must be text.' };
    }
  }
  for (const name of required ?? []) {
    if (!Object.hasOwn(payload, name)) {
      return { field: `payload.${name}`, message: 'The payload lacks this field.' };
    }
  }
  return null;
}
