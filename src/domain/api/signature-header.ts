import { z } from 'zod';
import { readSignatureHeader } from '../signature.ts';

/** `Service-Signature`, read (specification, "Webhook signature"; DECISIONS 6). */
export const signatureHeader = z
  .string()
  .meta({
    // Wider than what is taken: that t stands once and v1 at least once is said in words.
    pattern: '^[A-Za-z0-9_-]+=[^,\\s]*(,[A-Za-z0-9_-]+=[^,\\s]*)*$',
    description:
      '`t=<unix seconds>,v1=<signature>`: lowercase hex of HMAC-SHA256, keyed with the signing ' +
      'secret as it was shown, over `<t>.<delivery id>.<raw body>`. One `t`, within 300 seconds ' +
      "of the service's clock; several `v1` may stand, one that holds is enough; other schemes " +
      'are ignored; no white space.',
    examples: [`t=1767225600,v1=${'0123456789abcdef'.repeat(4)}`],
  })
  .transform((text, context) => {
    const reading = readSignatureHeader(text);
    if (!('problem' in reading)) return reading;
    context.addIssue({ code: 'custom', message: reading.problem });
    return z.NEVER;
  });
