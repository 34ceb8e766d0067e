/** Reads the arguments of a system call as strace writes them. */

const named: Record<string, number> = { n: 10, t: 9, r: 13, v: 11, f: 12 };

/** The path of the descriptor that a call begins with; null where it begins with something else. */
export function openPath(text: string): string | null {
  return /^\w+\(\d+<([^>]*)>/.exec(text)?.[1] ?? null;
}

/** All texts of a call, in order. */
export function textsOf(text: string): string[] {
  const found: string[] = [];
  for (let at = text.indexOf('"'); at >= 0; at = text.indexOf('"', at)) {
    const { bytes, end } = readText(text, at);
    found.push(bytes.toString());
    at = end;
  }
  return found;
}

/** What a write wrote, and where; null: behind what was written before. */
export function writtenBy(text: string): { bytes: Buffer; at: number | null } {
  const { bytes, end } = readText(text, text.indexOf('"'));
  const [, offset, written] = /^, \d+(?:, (\d+))?\) += (\d+)$/.exec(text.slice(end)) ?? [];
  if (written === undefined || bytes.length < Number(written)) {
    throw new Error(`a write whose bytes are not all in the trace: ${text.slice(end)}`);
  }
  const at = offset === undefined ? null : Number(offset);
  return { bytes: bytes.subarray(0, Number(written)), at };
}

/** One text in C's way of writing it, from its opening quote on. */
function readText(text: string, from: number): { bytes: Buffer; end: number } {
  const bytes = Buffer.alloc(text.length - from);
  let length = 0;
  let at = from + 1;
  while (text[at] !== '"') {
    if (text[at] !== '\\') {
      bytes[length++] = text.charCodeAt(at++);
      continue;
    }
    const octal = readOctal(text, at + 1);
    const escaped = text[at + 1]!;
    bytes[length++] = octal.digits > 0 ? octal.value : (named[escaped] ?? escaped.charCodeAt(0));
    at += 1 + Math.max(octal.digits, 1);
  }
  return { bytes: bytes.subarray(0, length), end: at + 1 };
}

/** At most three digits. */
function readOctal(text: string, from: number): { value: number; digits: number } {
  let value = 0;
  let digits = 0;
  for (; digits < 3; digits++) {
    const digit = text.charCodeAt(from + digits) - 48;
    if (!(digit >= 0 && digit < 8)) break;
    value = value * 8 + digit;
  }
  return { value, digits };
}
