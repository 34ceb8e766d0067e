import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import type { z } from 'zod';
import type { KeyHolder } from '../catalog/catalog.ts';
import { samplesQuery } from '../domain/api/head.ts';
import { readBy } from '../domain/api/read.ts';
import { invalid } from '../domain/errors.ts';
import { limits } from '../domain/limits.ts';
import { dayToText } from '../domain/periods.ts';
import { dayInZone } from '../domain/timezone.ts';
import { type ReadWindow, readWindow } from '../domain/windows.ts';
import { type AdmissionParts, admit } from '../http/admission.ts';
import { requireScope } from '../http/caller.ts';
import { etagMatches, etagOf } from '../http/etag.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import type { Route } from '../http/routes.ts';
import type { SampleStore, WindowAnswer } from '../samples/samples.ts';

export interface SamplesParts {
  readonly admission: AdmissionParts;
  readonly samples: Pick<SampleStore, 'window'>;
}

const compress = promisify(gzip);

/** GET /v1/samples (specification, "read the source's samples over a window"). */
export function samplesRoute(parts: SamplesParts): Route {
  return {
    method: 'GET',
    pattern: '/v1/samples',
    async handle(exchange) {
      exchange.reply(await answer(parts, exchange));
    },
  };
}

async function answer(parts: SamplesParts, exchange: Exchange): Promise<Reply> {
  const readable = (caller: KeyHolder) => requireScope(caller, 'read');
  const { holder, now } = await admit(parts.admission, exchange, readable);
  const { sourceId } = holder.source;
  const asked = readQuery(exchange.head.query);
  const window = readWindow(asked, dayInZone(now, holder.company.timezone));
  if ('message' in window) throw invalid(window.field, window.message);
  const rows = await parts.samples.window({
    sourceId,
    fromDay: window.fromDay,
    toDay: window.toDay,
    limit: limits.samplesPerAnswerMax,
    ...(asked.sandbox === undefined ? {} : { sandbox: asked.sandbox }),
  });
  return encode(exchange, samplesJson(sourceId, window, rows));
}

interface SamplesQuery {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly sandbox?: boolean | undefined;
}

function readQuery(query: string): SamplesQuery {
  const values = new URLSearchParams(query);
  const read = <T>(name: keyof SamplesQuery, schema: z.ZodType<T>): T | undefined => {
    const all = values.getAll(name);
    if (all.length > 1) throw invalid(name, 'This parameter must stand only once.');
    if (all.length === 0) return undefined;
    const reading = readBy(schema, all[0]);
    if ('problem' in reading) throw invalid(name, reading.problem);
    return reading.value;
  };
  return {
    from: read('from', samplesQuery.from),
    to: read('to', samplesQuery.to),
    sandbox: read('sandbox', samplesQuery.sandbox),
  };
}

/** Puts the specification's Samples object around the rows, which stay the bytes they are. */
function samplesJson(sourceId: string, window: ReadWindow, rows: WindowAnswer): Buffer {
  const head = JSON.stringify({
    source_id: sourceId,
    window: {
      from: dayToText(window.fromDay),
      to: dayToText(window.toDay),
      max_days: limits.windowDaysMax,
      narrowed: window.narrowed,
    },
  });
  return Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"samples":`),
    rows.json,
    Buffer.from(`,"truncated":${rows.truncated}}`),
  ]);
}

/** `ETag` of the encoded answer, 304 for the reader who has it, gzip where accepted. */
async function encode(exchange: Exchange, json: Buffer): Promise<Reply> {
  const zip = acceptsGzip(exchange.head.header('Accept-Encoding'));
  const body = zip ? await compress(json, { level: 1 }) : json;
  const etag = etagOf(body);
  const headers: Record<string, string> = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Origin, Accept-Encoding',
  };
  if (etagMatches(exchange.head.header('If-None-Match'), etag)) return { status: 304, headers };
  headers['Content-Type'] = 'application/json';
  if (zip) headers['Content-Encoding'] = 'gzip';
  return { status: 200, headers, body };
}

/** Whether the reader takes gzip (RFC 9110, section 12.5.3). */
function acceptsGzip(header: string | undefined): boolean {
  for (const part of (header ?? '').split(',')) {
    const [coding, ...parameters] = part.split(';').map((text) => text.trim().toLowerCase());
    if (coding !== 'gzip') continue;
    return !parameters.some((parameter) => /^q=0(\.0{0,3})?$/.test(parameter));
  }
  return false;
}
