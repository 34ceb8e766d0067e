import { assert } from '../std/assert.ts';

const day = String.raw`\d{4}/\d{2}/\d{2}`;
const uuid = '[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}';
const segmentEnd = '.segment';
const pattern = new RegExp(`^${day}/${uuid}(?:\\${segmentEnd})?$`);

/**
 * Whether a text names an object: `2026/11/20/<uuid>`, the day it was received and an id. A segment
 * has its own id and `.segment` behind it.
 */
export function isObjectName(text: string): boolean {
  return pattern.test(text);
}

/**
 * States that a text names an object. Names become paths and URLs as they are, so nothing else
 * may come near a store.
 *
 * @throws Error `assertion failed: …`
 */
export function assertObjectName(text: string): void {
  assert(isObjectName(text), `an object's name is a day and a uuid, not ${JSON.stringify(text)}`);
}

export function isSegmentName(object: string): boolean {
  return object.endsWith(segmentEnd);
}

/** The name of a segment that would be `object` if it were none. */
export function segmentName(object: string): string {
  return `${object}${segmentEnd}`;
}

/** The name of a new object: one folder a day, so that no folder grows without end. */
export function objectName(id: string, receivedAt: number): string {
  const day = new Date(receivedAt).toISOString().slice(0, 10).replaceAll('-', '/');
  return `${day}/${id}`;
}
