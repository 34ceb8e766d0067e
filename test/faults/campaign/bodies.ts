import { randomOf } from '../load.ts';
import { dayText } from '../sender.ts';

/** The ways of delivering; each has a source of its own in each company. */
export type Kind = 'push' | 'document' | 'webhook';

/** What makes a delivery be refused at the door, with the answer that it must get. */
export const refusals = {
  payload_missing: { kinds: ['push'], status: 400 },
  payload_not_text: { kinds: ['push'], status: 400 },
  field_missing: { kinds: ['push'], status: 400 },
  version_unknown: { kinds: ['push', 'document', 'webhook'], status: 400 },
  key_missing: { kinds: ['document'], status: 400 },
  too_long: { kinds: ['document'], status: 413 },
  access_key_unknown: { kinds: ['push', 'document'], status: 401 },
  signature_wrong: { kinds: ['webhook'], status: 404 },
  media_type_wrong: { kinds: ['webhook'], status: 415 },
} as const satisfies Record<string, { kinds: readonly Kind[]; status: number }>;

export type Refusal = keyof typeof refusals;

/** All that a body is made of again; a push carries its key within it. */
export interface BodySpec {
  readonly kind: Kind;
  /** No other body of the run has it. */
  readonly number: number;
  readonly key: string;
  readonly refusal: Refusal | null;
}

export interface ExpectedRow {
  readonly record: number;
  readonly metric: string;
  readonly period: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
}

/** What parsing must make of a body, known from how it was made and not from reading it. */
export interface Expected {
  readonly status: 'parsed' | 'rejected';
  readonly records: number;
  readonly rejected: number;
  readonly blank: number;
  /** Of parsed records, in their order; some may be superseded by later ones. */
  readonly rows: readonly ExpectedRow[];
  /** One for each bad field of each rejected record. */
  readonly rejections: number;
}

export interface MadeBody {
  readonly bytes: Buffer;
  readonly mediaType: string;
  readonly expected: Expected;
}

/** Days and labels are few, so that most samples supersede others; all fit into one read. */
const days = 60;
const labels = ['', 'a', 'b/c', 'd "quoted", with comma', 'ö', 'f'];

/** Well below the limit of a delivery. */
const largeBytes = 6_000_000;

type Random = (n: number) => number;

/** Makes a body; the same for the same run and spec, byte for byte. */
export function bodyOf(run: number, spec: BodySpec): MadeBody {
  const random = randomOf(Math.imul(run, 0x9e3779b1) ^ Math.imul(spec.number, 0x85ebca6b));
  if (spec.kind === 'push') return pushBody(spec, random);
  if (spec.kind === 'document') return csvBody(documentColumns, spec, random);
  return random(3) === 0 ? csvBody(webhookColumns, spec, random) : jsonBody(spec, random);
}

/** One record as its sender means it. */
interface Line {
  readonly day: string;
  readonly label: string;
  readonly value: string;
  readonly verdict: 'sample' | 'blank' | { readonly badFields: number };
}

function lineOf(spec: BodySpec, record: number, random: Random): Line {
  const day = dayText(random(days));
  const label = labels[random(labels.length)]!;
  const minus = random(9) === 0 ? '-' : '';
  const value = `${minus}${spec.number}.${record}${'0'.repeat(random(3))}`;
  const odd = random(20);
  if (odd === 0) return { day, label, value: '', verdict: 'blank' };
  if (odd === 1) return { day, label, value: '1e3', verdict: { badFields: 1 } };
  if (odd === 2) return { day: '2026-02-30', label, value: 'n/a', verdict: { badFields: 2 } };
  return { day, label, value, verdict: 'sample' };
}

function expectedOf(lines: readonly Line[], metric: string, labelName: string | null): Expected {
  const rows: ExpectedRow[] = [];
  let [rejected, blank, rejections] = [0, 0, 0];
  for (const [i, { day, label, value, verdict }] of lines.entries()) {
    if (verdict === 'blank') blank++;
    else if (verdict === 'sample') {
      const own = labelName === null ? {} : { [labelName]: label };
      rows.push({ record: i + 1, metric, period: day, labels: own, value });
    } else {
      rejected++;
      rejections += verdict.badFields;
    }
  }
  const status = lines.length > 0 && rejected === lines.length ? 'rejected' : 'parsed';
  return { status, records: lines.length, rejected, blank, rows, rejections };
}

/** Of a body that cannot be read to its end. */
const unreadable: Expected = {
  ...{ status: 'rejected', records: 0, rejected: 0, blank: 0, rows: [], rejections: 0 },
};

function pushBody(spec: BodySpec, random: Random): MadeBody {
  const line = lineOf(spec, 1, random);
  const { refusal } = spec;
  // Over 64 KiB a push is read in a thread.
  const note = random(30) === 0 ? 'x'.repeat(70_000 + random(100_000)) : '';
  const payload: Record<string, unknown> = {
    ...{ day: line.day, revenue: line.value, note },
    // Bodies with a blank or bad value are told apart too.
    number: String(spec.number),
  };
  if (refusal === 'field_missing') delete payload.day;
  if (refusal === 'payload_not_text') payload.revenue = 1;
  const envelope = {
    idempotency_key: spec.key,
    shape_version: refusal === 'version_unknown' ? 99 : 1,
    ...(refusal === 'payload_missing' ? {} : { payload }),
  };
  return {
    bytes: Buffer.from(JSON.stringify(envelope)),
    mediaType: 'application/json',
    expected: expectedOf([line], 'revenue', null),
  };
}

interface Columns {
  readonly label: string;
  readonly value: string;
  readonly mediaType: string;
}

const documentColumns = { label: 'page', value: 'visits', mediaType: 'application/octet-stream' };
const webhookColumns = { label: 'channel', value: 'orders', mediaType: 'text/csv' };

function linesOf(spec: BodySpec, random: Random, least: number): Line[] {
  const count = least + (random(8) === 0 ? random(300) : random(30));
  return Array.from({ length: count }, (_, i) => lineOf(spec, i + 1, random));
}

function csvBody(columns: Columns, spec: BodySpec, random: Random): MadeBody {
  const { label, value, mediaType } = columns;
  const lines = linesOf(spec, random, 0);
  const isBroken = random(25) === 0;
  // Columns that the shape does not declare make large bodies of few rows.
  const isLarge = columns === documentColumns && random(12) === 0;
  const noteChars = Math.min(10_000 + random(60_000), largeBytes / Math.max(1, lines.length));
  const note = isLarge ? 'x'.repeat(noteChars) : '';
  const header = `${isBroken ? 'dag' : 'day'},${label},${value},n${spec.number}\n`;
  const cell = (text: string) => (/[",]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);
  const rows = lines.map((one) => `${one.day},${cell(one.label)},${one.value},${note}\n`);
  return {
    bytes: Buffer.from(header + rows.join('')),
    mediaType,
    expected: isBroken ? unreadable : expectedOf(lines, value, label),
  };
}

function jsonBody(spec: BodySpec, random: Random): MadeBody {
  const lines = linesOf(spec, random, 1);
  const isBroken = random(25) === 0;
  const records = lines.map((line) => {
    // A number stands as itself: its text is what must come back.
    const isNumber = line.verdict === 'sample' && random(2) === 0;
    const orders = isNumber ? line.value : JSON.stringify(line.value);
    const [day, channel] = [JSON.stringify(line.day), JSON.stringify(line.label)];
    return `{"day":${day},"channel":${channel},"orders":${orders},"number":${spec.number}}`;
  });
  return {
    bytes: Buffer.from(`[${records.join(',\n')}${isBroken ? '' : ']'}`),
    mediaType: 'application/json',
    expected: isBroken ? unreadable : expectedOf(lines, 'orders', 'channel'),
  };
}
