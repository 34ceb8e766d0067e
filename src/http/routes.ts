import type { HttpRequest, HttpResponse, TemplatedApp } from 'uWebSockets.js';
import { ApiError, ToldError } from '../domain/errors.ts';
import { Exchange, type Reply } from './exchange.ts';
import { framingIsSound, framingOf } from './framing.ts';
import { RequestHead } from './head.ts';
import { OpenAnswers } from './open-answers.ts';
import type { ReferenceSite } from './reference-site.ts';

/**
 * One method of one path; `pattern` as uWebSockets.js has it (`/v1/deliveries/:id`). `/*` takes
 * what no other pattern takes: such addresses stay unknown to every method but its own.
 */
export interface Route {
  readonly method: 'GET' | 'HEAD' | 'POST';
  readonly pattern: string;
  /**
   * Starts the answer within the request handler: what needs the body must ask for it before the
   * first await. Rejections become the error's answer.
   *
   * @param parameters of the pattern, in order
   */
  handle(exchange: Exchange, parameters: readonly string[]): Promise<void>;
}

/** Told of each request; `route` is the pattern, null for an unknown path. */
export type RequestWatch = (exchange: Exchange, route: string | null) => void;

export interface RouteLog {
  error(fields: object, message: string): void;
}

/**
 * Serves routes on a listener: unknown paths answer 404, known paths with another method 405 with
 * `Allow` (DECISIONS 6), and every failure the Error object of the specification.
 *
 * @param site whose requests get CORS headers; null: none do
 * @param watch told of each request before it is answered
 * @returns the answers under way
 */
export function mount(
  app: TemplatedApp,
  routes: readonly Route[],
  log: RouteLog,
  site: ReferenceSite | null = null,
  watch: RequestWatch = () => {},
): OpenAnswers {
  const open = new OpenAnswers();
  const patterns = new Set(routes.map((route) => route.pattern));
  patterns.delete(anyOther);
  for (const pattern of patterns) {
    const own = routes.filter((route) => route.pattern === pattern);
    const allow = own.map((route) => route.method).join(', ');
    const parameterCount = pattern.split('/').filter((part) => part.startsWith(':')).length;
    app.any(pattern, (res, req) => {
      const parameters = Array.from(
        { length: parameterCount },
        (_, i) => req.getParameter(i) ?? '',
      );
      const exchange = exchangeOf(res, req, open, site);
      watch(exchange, pattern);
      if (site?.isPreflight(exchange.head) && framingIsSound(exchange.head)) {
        exchange.reply({ status: 204, headers: site.preflightHeaders(allow) });
        return;
      }
      const route = own.find((one) => one.method === exchange.head.method);
      const answering = route
        ? begin(route, exchange, parameters)
        : Promise.reject(methodNotAllowed(allow));
      open.enter();
      answering.catch((error) => answerError(exchange, error, log)).finally(() => open.leave());
    });
  }
  app.any(anyOther, (res, req) => {
    const exchange = exchangeOf(res, req, open, site);
    watch(exchange, null);
    const { method } = exchange.head;
    const rest = routes.find((one) => one.pattern === anyOther && one.method === method);
    const answering = rest ? begin(rest, exchange, []) : Promise.reject(unknownAddress());
    open.enter();
    answering.catch((error) => answerError(exchange, error, log)).finally(() => open.leave());
  });
  return open;
}

/** The pattern of all addresses. */
const anyOther = '/*';

/**
 * A read has no use for a body, but how one is framed decides where the next request begins. What
 * takes a body judges its framing itself, in the order of the contract (DECISIONS 6).
 */
async function begin(
  route: Route,
  exchange: Exchange,
  parameters: readonly string[],
): Promise<void> {
  // Two of them: a proxy may have gone by the other one (RFC 9112, section 3.2).
  exchange.head.header('Host');
  if (route.method !== 'POST') framingOf(exchange.head);
  await route.handle(exchange, parameters);
}

function exchangeOf(
  res: HttpResponse,
  req: HttpRequest,
  open: OpenAnswers,
  site: ReferenceSite | null,
): Exchange {
  const exchange = new Exchange(res, new RequestHead(req), open);
  if (site) exchange.addHeaders(site.corsHeaders(exchange.head));
  return exchange;
}

function unknownAddress(): ApiError {
  return new ApiError(404, 'not_found', 'There is nothing at this address.');
}

function methodNotAllowed(allow: string): ApiError {
  return new ApiError(405, 'method_not_allowed', 'This address does not take this method.', {
    headers: { Allow: allow },
  });
}

/** Answers a failure; what is no `ToldError` is logged and told only as 500 or 503. */
export async function answerError(
  exchange: Exchange,
  error: unknown,
  log: RouteLog,
): Promise<void> {
  const known = error instanceof ToldError ? error : unexpected(error);
  // Whoever asks for much at once meets a full queue: counted by its status, no line for each.
  const failed = known.status >= 500 && codeOf(error) !== busyCode;
  if (failed) log.error({ err: known.cause ?? error }, 'a request failed');
  const reply = errorReply(known, exchange);
  // Answered within the read that brought it, a connection would still serve whatever else that
  // read holds; while an answer is pending, uWebSockets.js ends it at the next request instead.
  if (reply.close) await new Promise((resolve) => setImmediate(resolve));
  if (exchange.open) exchange.reply(reply);
}

function errorReply(error: ToldError, exchange: Exchange): Reply {
  const headers = { 'Content-Type': 'application/json', ...error.headers };
  // Where the request's end cannot be told for sure, the next request cannot either.
  const close = error.close || !framingIsSound(exchange.head);
  return { status: error.status, headers, body: error.json(), close };
}

const busyCode = 'threads_busy';
const awayCodes = new Set(['store_away', 'catalog_away', 'samples_away', busyCode]);

function codeOf(error: unknown): string | null {
  return error instanceof Error && 'code' in error ? String(error.code) : null;
}

function unexpected(cause: unknown): ApiError {
  const away = awayCodes.has(codeOf(cause) ?? '');
  return away
    ? new ApiError(503, 'internal', 'The service cannot do this at the moment. Try again.', {
        headers: { 'Retry-After': '5' },
        cause,
      })
    : new ApiError(500, 'internal', 'Something went wrong on our side. Try again.', { cause });
}
