import type { z } from 'zod';
import { delivery, isObject } from './api/delivery.ts';
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

function judgeVersion(version: unknown): number | PushProblem {
  const read = delivery.shape.shape_version.safeParse(version);
  return read.success ? read.data : problemOf('shape_version', read.error);
}

function judgePayload(payload: unknown, required: readonly string[] | null): PushProblem | null {
  const read = delivery.shape.payload.safeParse(payload);
  if (!read.success) return problemOf('payload', read.error);
  for (const name of required ?? []) {
    if (!Object.hasOwn(read.data, name)) {
      return { field: `payload.${name}`, message: 'The payload lacks this field.' };
    }
  }
  return null;
}

/** The first thing that is wrong, and where: `payload.<name>` within the payload. */
function problemOf(name: string, error: z.ZodError): PushProblem {
  const { path, message } = error.issues[0]!;
  return { field: [name, ...path].join('.'), message };
}
