import type { RequestHead } from '../http/head.ts';

/**
 * What a page may do (SECURITY.md, "Headers"): it runs the app's own scripts and styles, asks the
 * app and the API, and nothing else; nobody frames it.
 *
 * @param apiOrigin which the API reference sends to
 */
export function pageHeaders(apiOrigin: string): Record<string, string> {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "font-src 'self'",
    `connect-src 'self' ${apiOrigin}`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ];
  const mayUse = ['publickey-credentials-get', 'publickey-credentials-create', 'clipboard-write'];
  const mayNot = ['camera', 'display-capture', 'geolocation', 'microphone', 'payment', 'usb'];
  const features = [...mayUse.map((one) => `${one}=(self)`), ...mayNot.map((one) => `${one}=()`)];
  return {
    'Content-Security-Policy': policy.join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': features.join(', '),
    // An address may hold an invitation. The API knows the reference by `Origin`, which stays.
    'Referrer-Policy': 'same-origin',
  };
}

const loopback = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * The same address under the name of the app, where this machine was asked by another of its
 * names: a passkey belongs to one name, and to no number (WebAuthn, section 5.1.2). Null: stay.
 */
export function urlByName(appUrl: string, head: RequestHead): string | null {
  const app = new URL(appUrl);
  const asked = URL.parse(`http://${head.firstHeader('Host')}`);
  const here = asked !== null && loopback.test(asked.hostname) && loopback.test(app.hostname);
  // Another port is somebody's tunnel: the app's own may lead nowhere from there.
  if (!here || asked.hostname === app.hostname || asked.port !== app.port) return null;
  const query = head.query === '' ? '' : `?${head.query}`;
  return `${app.origin}${head.path}${query}`;
}
