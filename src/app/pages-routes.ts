import { ApiError } from '../domain/errors.ts';
import { etagMatches } from '../http/etag.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import type { Route } from '../http/routes.ts';
import { appOpenapiRoute } from './openapi.ts';
import { pageHeaders, urlByName } from './page-headers.ts';
import type { AppParts } from './parts.ts';
import { readStaticFiles, type StaticFile, type StaticFiles, variantFor } from './static-files.ts';

/**
 * Where the console has pages: each is answered with the same document, whose script shows what
 * belongs to the address. `/*` is every other address.
 */
const pagePatterns = [
  ...['/', '/sources', '/sources/*', '/metrics', '/reference', '/guides', '/guides/*'],
  ...['/sign-in', '/invitation'],
];

const forever = 'public, max-age=31536000, immutable';
const missing =
  'The pages of the app are not built. "npm run build" builds them; then start weir anew.\n';

/** The console's pages with what they are made of, and the app API's document. */
export function pageRoutes(parts: AppParts): Route[] {
  const files = readStaticFiles(parts.consoleDir);
  const headers = pageHeaders(new URL(parts.apiUrl).origin);
  const page = (status: number) => async (exchange: Exchange) => {
    const moved = urlByName(parts.appUrl, exchange.head);
    if (moved !== null) exchange.reply({ status: 307, headers: { Location: moved } });
    else exchange.reply(pageReply(exchange, files, { status, headers }));
  };
  return [
    appOpenapiRoute(parts.appUrl),
    ...pagePatterns.flatMap((pattern) => reads(pattern, page(200))),
    ...reads('/assets/*', async (exchange) => exchange.reply(assetReply(exchange, files))),
    ...reads('/*', async (exchange) => {
      if (!isForPeople(exchange)) throw nothing();
      await page(404)(exchange);
    }),
  ];
}

/** A HEAD's answer is a GET's without its body, which the exchange leaves out. */
function reads(pattern: string, handle: Route['handle']): Route[] {
  return [
    { method: 'GET', pattern, handle },
    { method: 'HEAD', pattern, handle },
  ];
}

/** Whoever opens an address in a browser sees the page that says so; programs get the error. */
function isForPeople({ head }: Exchange): boolean {
  return !head.path.startsWith('/app/') && (head.listHeader('Accept') ?? '').includes('text/html');
}

function nothing(): ApiError {
  return new ApiError(404, 'not_found', 'There is nothing at this address.');
}

function pageReply(
  exchange: Exchange,
  files: StaticFiles | null,
  { status, headers }: Pick<Reply, 'status'> & { headers: Record<string, string> },
): Reply {
  const page = files?.get('/index.html');
  if (!page) {
    const plain = { 'Content-Type': 'text/plain; charset=utf-8' };
    return { status: 503, headers: plain, body: missing };
  }
  const reply = fileReply(exchange, page, { ...headers, 'Cache-Control': 'no-cache' });
  return reply.status === 200 ? { ...reply, status } : reply;
}

/** Their names hold what they are made of, so that a name never changes what it is. */
function assetReply(exchange: Exchange, files: StaticFiles | null): Reply {
  const file = files?.get(exchange.head.path);
  if (!file) throw nothing();
  return fileReply(exchange, file, { 'Cache-Control': forever });
}

function fileReply(exchange: Exchange, file: StaticFile, more: Record<string, string>): Reply {
  const { head } = exchange;
  const { body, coding, etag } = variantFor(file, head.header('Accept-Encoding'));
  const headers: Record<string, string> = { ...more, ETag: etag, Vary: 'Accept-Encoding' };
  if (etagMatches(head.header('If-None-Match'), etag)) return { status: 304, headers };
  headers['Content-Type'] = file.type;
  if (coding !== null) headers['Content-Encoding'] = coding;
  return { status: 200, headers, body };
}
