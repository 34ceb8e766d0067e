import { limits } from '../domain/limits.ts';
import type { ByteBudget } from '../http/byte-budget.ts';
import type { Framing } from '../http/framing.ts';
import type { Body, CollectedBody } from './body.ts';

/** A whole body in memory; `release` gives its bytes back to the budget. */
export interface HeldBody extends CollectedBody {
  release(): void;
}

/**
 * Reads a body that must be held as a whole, within a budget of bytes. One without a length counts
 * as small until it proves otherwise.
 *
 * @param each sees every part of it, in order
 * @throws SenderGone, BodyTooLong; ApiError 503 when there is no room, or it came too slowly
 */
export async function holdBody(
  budget: ByteBudget,
  body: Body,
  framing: Framing,
  each?: (bytes: Uint8Array) => void,
): Promise<HeldBody> {
  const small = limits.smallBodyBytesMax;
  const declared = framing.kind === 'length' ? framing.bytes : limits.deliveryBytesMax;
  if (!body.complete && (framing.kind === 'chunked' || declared <= small)) {
    const leave = budget.enterLobby(body);
    await body.begun(small).finally(leave);
  }
  const bytes = body.complete ? body.bytesCome : declared;
  const release = await budget.take(bytes, body);
  try {
    const collected = await body.collect(Math.min(bytes, limits.uploadBytesAheadMax), each);
    return { ...collected, release };
  } catch (error) {
    release();
    throw error;
  }
}
