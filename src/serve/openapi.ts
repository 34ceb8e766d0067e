import { etagMatches, etagOf } from '../http/etag.ts';
import type { Route } from '../http/routes.ts';
import { openapiDocument } from './openapi/document.ts';

/** The document as text: what is served, and what is committed as `openapi.json`. */
export function openapiJson(baseUrl: string): string {
  return `${JSON.stringify(openapiDocument(baseUrl), null, 2)}\n`;
}

/** GET /openapi.json, for everybody. */
export function openapiRoute(baseUrl: string): Route {
  const body = openapiJson(baseUrl);
  const etag = etagOf(body);
  const headers = { ETag: etag, 'Cache-Control': 'no-cache', Vary: 'Origin' };
  return {
    method: 'GET',
    pattern: '/openapi.json',
    async handle(exchange) {
      if (etagMatches(exchange.head.header('If-None-Match'), etag)) {
        exchange.reply({ status: 304, headers });
        return;
      }
      exchange.reply({
        status: 200,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body,
      });
    },
  };
}
