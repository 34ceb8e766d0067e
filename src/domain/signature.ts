import { createHmac, timingSafeEqual } from 'node:crypto';
import { deliveryIdHeader } from './api/head.ts';
import { problemBy } from './api/read.ts';
import { limits } from './limits.ts';

/** What a `Service-Signature` header says (specification, "Webhook signature"). */
export interface SignatureHeader {
  /** Unix seconds. */
  readonly time: number;
  /** The text of `t` as it stands, for it is part of what is signed. */
  readonly timeText: string;
  /** Each 32 bytes; several may stand, one that holds is enough. */
  readonly signatures: readonly Buffer[];
}

export type SignatureReading = SignatureHeader | { readonly problem: string };

const part = /^([A-Za-z0-9_-]+)=(.*)$/;

/**
 * Reads `t=<unix seconds>,v1=<64 lowercase hex digits>` (DECISIONS 6): the order is free, `t`
 * stands once, several `v1` may stand, other schemes are passed over, white space is refused.
 */
export function readSignatureHeader(header: string): SignatureReading {
  if (header === '') return { problem: 'The signature header is empty.' };
  if (/\s/.test(header)) return { problem: 'The signature header must not hold white space.' };
  let timeText: string | null = null;
  const signatures: Buffer[] = [];
  for (const item of header.split(',')) {
    const [, name, value] = part.exec(item) ?? [];
    if (name === undefined || value === undefined) {
      return { problem: 'Each part of the signature header must be name=value.' };
    }
    if (name === 't') {
      if (timeText !== null) return { problem: 'The time t must stand only once.' };
      if (!/^[0-9]{1,12}$/.test(value)) return { problem: 'The time t must be unix seconds.' };
      timeText = value;
    } else if (name === 'v1') {
      if (!/^[0-9a-f]{64}$/.test(value)) {
        return { problem: 'A v1 signature must be 64 lowercase hex digits.' };
      }
      signatures.push(Buffer.from(value, 'hex'));
    }
  }
  if (timeText === null) return { problem: 'The signature header lacks its time t.' };
  if (signatures.length === 0) return { problem: 'The signature header lacks a v1 signature.' };
  return { time: Number(timeText), timeText, signatures };
}

/** @returns what is wrong with the time, or null: 300 seconds either way are tolerated */
export function signatureTimeProblem(time: number, nowMs: number): string | null {
  const seconds = Math.floor(nowMs / 1_000);
  const off = Math.abs(time - seconds);
  if (off <= limits.signatureToleranceSeconds) return null;
  return `The signature's time is more than ${limits.signatureToleranceSeconds} seconds away.`;
}

/** @returns what is wrong with a delivery id, or null (specification, "Headers") */
export function deliveryIdProblem(id: string | undefined): string | null {
  return problemBy(deliveryIdHeader, id);
}

/**
 * Checks a signature as the body arrives: `update` with each part of it, then `matches`. A
 * comparison takes the same time wherever it differs, and every signature is compared.
 */
export function signatureCheck(secret: string, timeText: string, deliveryId: string) {
  const hmac = createHmac('sha256', secret).update(`${timeText}.${deliveryId}.`);
  return {
    update(bytes: Uint8Array): void {
      hmac.update(bytes);
    },
    matches(signatures: readonly Buffer[]): boolean {
      const expected = hmac.digest();
      let found = false;
      for (const one of signatures) found = timingSafeEqual(one, expected) || found;
      return found;
    },
  };
}

/** The header's value for a body, as a sender makes it. */
export function signDelivery(
  secret: string,
  deliveryId: string,
  body: Uint8Array,
  nowMs: number,
): string {
  const time = Math.floor(nowMs / 1_000);
  const hmac = createHmac('sha256', secret).update(`${time}.${deliveryId}.`).update(body);
  return `t=${time},v1=${hmac.digest('hex')}`;
}
