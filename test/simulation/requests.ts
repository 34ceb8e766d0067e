import { createHash } from 'node:crypto';
import { signDelivery } from '../../src/domain/signature.ts';
import { keyOf, type SourceName, secret, sources } from './fixtures.ts';
import type { Random } from './random.ts';
import type { Request } from './wire.ts';

/** One sample that a body holds under each of the two shape versions. */
interface Line {
  readonly day: string;
  readonly later: string;
  readonly who: string;
  readonly a: string;
  readonly b: string;
}

/** What a sender wants kept, and will not stop sending before it has an answer that is final. */
export interface Intent {
  readonly source: SourceName;
  readonly sandbox: boolean;
  readonly key: string;
  readonly version: 1 | 2;
  readonly body: Buffer;
  readonly sha256: string;
  readonly lines: readonly Line[];
  /** It is refused at the door, whenever it comes. */
  readonly isRefused: boolean;
}

export interface ExpectedSample {
  readonly day: string;
  readonly metric: string;
  readonly labels: string;
  readonly value: string;
  readonly record: number;
}

/** A value that is none: its record is rejected when it is parsed, not at the door. */
const noNumber = 'many';

export function isGood(line: Line, version: 1 | 2): boolean {
  return (version === 1 ? line.a : line.b) !== noNumber;
}

/** What a body gives under a version, in the order of its records: DECISIONS 2, read anew. */
export function samplesIn({ source, lines }: Intent, version: 1 | 2): ExpectedSample[] {
  return lines.flatMap((line, i) => {
    if (!isGood(line, version)) return [];
    const isDocument = source === 'document';
    return {
      day: version === 1 ? line.day : line.later,
      ...{ metric: isDocument ? 'sales' : 'visits', record: i + 1 },
      labels: isDocument ? JSON.stringify({ who: line.who }) : '{}',
      value: version === 1 ? line.a : line.b,
    };
  });
}

/**
 * The intents of one run. Most are new; some come again under the same key from somebody else,
 * some bring the bytes of another under a key of their own, or other bytes under its key.
 */
export function makeIntents(random: Random, count: number): Intent[] {
  const intents: Intent[] = [];
  for (let n = 0; n < count; n++) {
    const fresh = freshIntent(random, n);
    const other = intents.length > 0 && random.percent(35) ? random.pick(intents) : null;
    const roll = random.below(3);
    if (!other || other.source !== fresh.source || other.sandbox !== fresh.sandbox) {
      intents.push(fresh);
    } else if (roll === 0) intents.push(other);
    else if (roll === 1 && other.source !== 'push') {
      intents.push({ ...other, key: fresh.key });
    } else intents.push(withKey(fresh, other.key));
  }
  return intents;
}

function freshIntent(random: Random, n: number): Intent {
  const source = random.pick(['push', 'push', 'document', 'webhook'] as const);
  const sandbox = source !== 'webhook' && random.percent(20);
  const records = source === 'push' ? 1 : random.between(1, 4);
  const lines = Array.from({ length: records }, (_, i): Line => {
    const value = () => (random.percent(8) ? noNumber : `${n}.${i}${random.below(10)}`);
    const day = () => `2026-03-0${random.between(1, 4)}`;
    return { day: day(), later: day(), who: random.pick(['x', 'y']), a: value(), b: value() };
  });
  const isRefused = random.percent(7);
  // Too large to share an object with others: it is streamed to the store.
  const isLarge = source === 'document' && random.percent(15);
  const version = random.pick([1, 2] as const);
  const about = { source, sandbox, key: `k${n}`, version, lines, isRefused };
  return withBody(about, isLarge ? 66_000 : 0);
}

function withKey(intent: Intent, key: string): Intent {
  const { source, sandbox, version, lines, isRefused } = intent;
  return withBody({ source, sandbox, key, version, lines, isRefused }, 0);
}

function withBody(about: Omit<Intent, 'body' | 'sha256'>, padding: number): Intent {
  const body = Buffer.from(bodyOf(about, padding));
  return { ...about, body, sha256: createHash('sha256').update(body).digest('hex') };
}

function bodyOf(intent: Omit<Intent, 'body' | 'sha256'>, padding: number): string {
  const { source, lines, key, version, isRefused } = intent;
  if (source === 'push') {
    const { day, later, a, b } = lines[0]!;
    const payload = isRefused ? { day } : { day, later, a, b };
    return JSON.stringify({ idempotency_key: key, shape_version: version, payload });
  }
  if (source === 'webhook') return JSON.stringify(lines.map(({ who, ...line }) => line));
  const rows = lines.map((one) => [one.day, one.later, one.who, one.a, one.b, ''].join(','));
  return `day,later,who,a,b,more\n${rows.join('\n')}${'-'.repeat(padding)}\n`;
}

/** The request of one attempt; a webhook is signed anew each time. */
export function requestOf(intent: Intent, now: number): Request {
  const { source, sandbox, key, version, body, isRefused } = intent;
  const bearer = { Authorization: `Bearer ${keyOf(source, sandbox)}` };
  const length = { 'Content-Length': String(body.length) };
  // What makes the others of them refused is in the head: a version that there is not.
  const named = { 'X-Service-Shape-Version': String(isRefused ? 9 : version) };
  if (source === 'webhook') {
    return {
      ...{ method: 'POST', path: `/v1/webhooks/${sources.webhook.sourceId}`, body },
      headers: {
        ...{ 'Service-Signature': signDelivery(secret, key, body, now), ...named, ...length },
        ...{ 'Service-Delivery-Id': key, 'Content-Type': 'application/json' },
      },
    };
  }
  const headers = { ...bearer, ...length };
  const way =
    source === 'push'
      ? { 'Content-Type': 'application/json' }
      : { 'Content-Type': 'application/octet-stream', 'Idempotency-Key': key, ...named };
  return { method: 'POST', path: '/v1/ingest', headers: { ...headers, ...way }, body };
}

/** Reads everything that a source shows. */
export function readRequest(source: SourceName): Request {
  return {
    ...{ method: 'GET', path: '/v1/samples', query: 'from=2026-03-01&to=2026-04-01' },
    headers: { Authorization: `Bearer ${keyOf(source, false)}` },
  };
}
