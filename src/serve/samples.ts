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
import { acceptsCoding } from '../http/encodings.ts';
import { etagMatches, etagOf } from '../http/etag.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import type { Route } from '../http/routes.ts';
import type { SampleStore, TextAround } from '../samples/samples.ts';
import { giveBack } from '../std/give-back.ts';
import { AnswerCache, type EncodedAnswer } from './answer-cache.ts';

export interface SamplesParts {
  readonly admission: AdmissionParts;
  readonly samples: Pick<SampleStore, 'window'>;
}

type Encoding = 'gzip' | 'identity';

const compress = promisify(gzip);

/**
 * GET /v1/samples (specification, "read the source's samples over a window").
 *
 * Every request is judged anew: key, site, scope, rate, window. An answer of this process is given
 * again only while the version of the source's samples, looked up with the key, is the one that
 * was looked up before the query for it was sent. So from the moment in which a delivery is
 * reported as parsed, every read of every process shows its samples.
 */
export function samplesRoute(parts: SamplesParts): Route {
  const answers = new AnswerCache(limits.answersKeptBytesMax);
  return {
    method: 'GET',
    pattern: '/v1/samples',
    async handle(exchange) {
      exchange.reply(await answer(parts, answers, exchange));
    },
  };
}

async function answer(
  parts: SamplesParts,
  answers: AnswerCache,
  exchange: Exchange,
): Promise<Reply> {
  const readable = (caller: KeyHolder) => requireScope(caller, 'read');
  const { holder, now } = await admit(parts.admission, exchange, readable);
  const { sourceId } = holder.source;
  const asked = readQuery(exchange.head.query);
  const window = readWindow(asked, dayInZone(now, holder.company.timezone));
  if ('message' in window) throw invalid(window.field, window.message);
  const { fromDay, toDay, narrowed } = window;
  const { sandbox } = asked;
  const takesGzip = acceptsCoding(exchange.head.header('Accept-Encoding'), 'gzip');
  const encoding = takesGzip ? 'gzip' : 'identity';
  const name = [sourceId, fromDay, toDay, narrowed, sandbox, encoding].join(' ');
  const version = sureVersion(holder.samples, now);
  const made = await answers.answer(name, version, async () => {
    const { json } = await parts.samples.window({
      ...{ sourceId, fromDay, toDay, limit: limits.samplesPerAnswerMax },
      ...(sandbox === undefined ? {} : { sandbox }),
      around: samplesObject(sourceId, window),
    });
    return await encode(json, encoding);
  });
  return replyOf(made, encoding, exchange.head.header('If-None-Match'));
}

/**
 * Null: somebody may have changed the samples and told nobody. So it is, too, with a turn that ends
 * later than any does: the clock was set back since it began.
 */
function sureVersion({ version, turnEndsAt }: KeyHolder['samples'], now: number): number | null {
  const runs =
    turnEndsAt !== null && turnEndsAt > now && turnEndsAt <= now + limits.queueAheadMsMax;
  return turnEndsAt === null || runs ? version : null;
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

/** The specification's Samples object; ClickHouse makes the array in it. */
function samplesObject(sourceId: string, window: ReadWindow): TextAround {
  const head = JSON.stringify({
    source_id: sourceId,
    window: {
      from: dayToText(window.fromDay),
      to: dayToText(window.toDay),
      max_days: limits.windowDaysMax,
      narrowed: window.narrowed,
    },
  });
  return {
    before: `${head.slice(0, -1)},"samples":`,
    after: (truncated) => `,"truncated":${truncated}}`,
  };
}

async function encode(json: Buffer, encoding: Encoding): Promise<EncodedAnswer> {
  if (encoding === 'identity') return { body: json, etag: etagOf(json) };
  const body = await compress(json, { level: 1 });
  giveBack(json);
  return { body, etag: etagOf(body) };
}

/** The answer, or 304 for the reader who has it. */
function replyOf(
  { body, etag }: EncodedAnswer,
  encoding: Encoding,
  ifNoneMatch: string | undefined,
): Reply {
  const headers: Record<string, string> = {
    ETag: etag,
    'Cache-Control': 'private, no-cache',
    Vary: 'Authorization, Origin, Accept-Encoding',
  };
  if (etagMatches(ifNoneMatch, etag)) return { status: 304, headers };
  headers['Content-Type'] = 'application/json';
  if (encoding === 'gzip') headers['Content-Encoding'] = encoding;
  return { status: 200, headers, body };
}
