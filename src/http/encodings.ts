/** Whether an `Accept-Encoding` names a coding, and not to refuse it (RFC 9110, 12.5.3). */
export function acceptsCoding(header: string | undefined, wanted: string): boolean {
  for (const part of (header ?? '').split(',')) {
    const [coding, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    if (coding !== wanted) continue;
    return !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter));
  }
  return false;
}
