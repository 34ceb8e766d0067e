import { z } from 'zod';

/** What goes to and comes from a browser's passkeys (WebAuthn Level 3, sections 5.1.8, 5.1.9). */

/** The longest part, a public key with its certificates, takes a few thousand characters. */
const base64url = z
  .string()
  .regex(/^[A-Za-z0-9_-]*$/, 'This must be base64url.')
  .max(65_536);
const type = z.literal('public-key');
const known = z.array(
  z.object({ id: base64url, type, transports: z.array(z.string()).optional() }),
);

/** What `navigator.credentials.get` is called with. */
export const requestOptions = z.object({
  challenge: base64url,
  rpId: z.string(),
  timeout: z.number(),
  userVerification: z.literal('required'),
  allowCredentials: known.optional(),
});

/** What `navigator.credentials.create` is called with. */
export const creationOptions = z.object({
  challenge: base64url,
  rp: z.object({ id: z.string(), name: z.string() }),
  user: z.object({ id: base64url, name: z.string(), displayName: z.string() }),
  pubKeyCredParams: z.array(z.object({ type, alg: z.number() })),
  timeout: z.number(),
  attestation: z.literal('none'),
  excludeCredentials: known,
  authenticatorSelection: z.object({
    residentKey: z.literal('required'),
    requireResidentKey: z.literal(true),
    userVerification: z.literal('required'),
  }),
});

/** Of a passkey that was checked. */
export const assertion = z.object({
  id: base64url,
  rawId: base64url,
  type,
  response: z.object({
    clientDataJSON: base64url,
    authenticatorData: base64url,
    signature: base64url,
    userHandle: base64url.optional(),
  }),
});

/** Of a passkey that was made. */
export const attestation = z.object({
  id: base64url,
  rawId: base64url,
  type,
  response: z.object({
    clientDataJSON: base64url,
    attestationObject: base64url,
    transports: z.array(z.string().max(40)).max(10).optional(),
  }),
});

export type RequestOptions = z.infer<typeof requestOptions>;
export type CreationOptions = z.infer<typeof creationOptions>;
export type Assertion = z.infer<typeof assertion>;
export type Attestation = z.infer<typeof attestation>;
