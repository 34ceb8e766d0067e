import {
  browserSupportsWebAuthn,
  type PublicKeyCredentialCreationOptionsJSON,
  type PublicKeyCredentialRequestOptionsJSON,
  startAuthentication,
  startRegistration,
  WebAuthnError,
} from '@simplewebauthn/browser';
import type {
  Assertion,
  Attestation,
  CreationOptions,
  RequestOptions,
} from '../domain/api/app/passkey.ts';
import { Refused } from './api.ts';

/** Why no passkey can be used here, as a sentence; null: they can. */
export function whyNoPasskeys(): string | null {
  if (!window.isSecureContext) {
    return 'Passkeys work on https only, or on this machine under the name localhost.';
  }
  if (!browserSupportsWebAuthn()) {
    return 'This browser has no passkeys. Use a current Chrome, Edge, Firefox or Safari.';
  }
  return null;
}

/** Has the browser check a passkey. */
export async function checkPasskey(options: RequestOptions): Promise<Assertion> {
  const optionsJSON = options as PublicKeyCredentialRequestOptionsJSON;
  const { id, rawId, response } = await startAuthentication({ optionsJSON });
  return { id, rawId, type: 'public-key', response };
}

/** Has the browser make a passkey. */
export async function makePasskey(options: CreationOptions): Promise<Attestation> {
  const optionsJSON = options as PublicKeyCredentialCreationOptionsJSON;
  const { id, rawId, response } = await startRegistration({ optionsJSON });
  return { id, rawId, type: 'public-key', response };
}

/** What went wrong with a passkey, as a user can act on it. */
export function passkeyProblem(error: unknown): string {
  if (error instanceof Refused) {
    if (error.code !== 'origin_refused') return error.message;
    return `Passkeys do not work at ${location.origin}: it is not the app's own address. \
Open the app at the address that WEIR_APP_URL names.`;
  }
  if (error instanceof WebAuthnError && error.code.endsWith('PREVIOUSLY_REGISTERED')) {
    return 'There is a passkey of yours on this device already: sign in with it.';
  }
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  if (name === 'NotAllowedError' || name === 'AbortError') {
    return 'The passkey was not used: it was cancelled, took too long, or is on another device.';
  }
  return `The browser could not use a passkey: ${message}`;
}
