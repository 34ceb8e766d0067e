import type { KeyHolder } from '../catalog/catalog.ts';
import { ApiError, invalid } from '../domain/errors.ts';
import { idempotencyHeaderProblem } from '../domain/idempotency.ts';
import { type AdmissionParts, admit } from '../http/admission.ts';
import { requireScope } from '../http/caller.ts';
import type { Exchange, Reply } from '../http/exchange.ts';
import type { Route } from '../http/routes.ts';
import { Body, BodyTooLong, SenderGone } from './body.ts';
import {
  contentEncodingOf,
  deliveryTooLarge,
  judgedFraming,
  requireMediaType,
  shapeVersionOfHeader,
} from './checks.ts';
import { takeDocument } from './document.ts';
import type { AcceptParts } from './keep.ts';
import { takePush } from './push.ts';

/** POST /v1/ingest (specification, "push one delivery"). */
export function ingestRoute(parts: AcceptParts, admission: AdmissionParts): Route {
  return {
    method: 'POST',
    pattern: '/v1/ingest',
    async handle(exchange) {
      const body = new Body(exchange);
      try {
        exchange.reply(await take(parts, admission, exchange, body));
      } catch (error) {
        body.abandon();
        if (error instanceof SenderGone) return;
        if (error instanceof BodyTooLong) throw deliveryTooLarge(error.unfinished);
        throw error;
      }
    },
  };
}

/** The order of the checks is the contract's (DECISIONS 6). */
async function take(
  parts: AcceptParts,
  admission: AdmissionParts,
  exchange: Exchange,
  body: Body,
): Promise<Reply> {
  const { head } = exchange;
  const { holder, now } = await admit(admission, exchange, (caller) => {
    requireKeyDelivery(caller);
    if (admission.demo) throw notHere('A demo deployment takes no deliveries.');
  });
  const framing = judgedFraming(head);
  if (holder.source.delivery === 'push') {
    requireMediaType(head, 'application/json');
    contentEncodingOf(head, ['identity']);
    return takePush(parts, { holder, body, framing, now });
  }
  requireMediaType(head, 'application/octet-stream');
  const encoding = contentEncodingOf(head, ['identity', 'gzip', 'zstd']);
  const idempotencyKey = head.header('Idempotency-Key');
  const problem = idempotencyHeaderProblem(idempotencyKey);
  if (problem) throw invalid('Idempotency-Key', problem);
  const shapeVersion = shapeVersionOfHeader(head) ?? holder.source.shapeVersion;
  const about = { idempotencyKey: idempotencyKey!, shapeVersion, encoding };
  return takeDocument(parts, { holder, body, framing, now, ...about });
}

/** A write key does not push to a webhook source: its deliveries are signed. */
function requireKeyDelivery(holder: KeyHolder): void {
  requireScope(holder, 'write');
  if (holder.source.delivery === 'webhook') {
    throw notHere('A webhook source takes signed deliveries only.');
  }
}

function notHere(message: string): ApiError {
  return new ApiError(403, 'insufficient_scope', message);
}
