// biome-ignore-all lint/suspicious/noTemplateCurlyInString: titles as they stand in the tests
import { at, row, type Section, section } from './rows.ts';

const door = 'protocol/door-cases';
const receipts = 'protocol/receipt-cases';
const reads = 'protocol/read-cases';
const refusals = 'protocol/refusal-cases';
const webhooks = 'protocol/webhook-cases';
const refused = 'protocol/webhook-refusal-cases';
const rates = 'protocol/rates.test';
const site = 'protocol/reference-site.test';
const limit = 'protocol/limit-cases';

/** "States and transitions" and "Endpoints". */
export const endpoints: readonly Section[] = [
  section(
    'Delivery status',
    row(
      'An accepted and stored delivery is queued; a receipt comes with 202, parsing follows.',
      at(receipts, 'a push is answered 202 with a receipt of exactly the four fields'),
      at('protocol/delivery-cases', 'a delivery is shown with exactly the fields of its contract'),
    ),
    row(
      'What was refused is not stored.',
      at(refusals, 'a push with %s is 400'),
      at(refused, 'nothing of an unsigned body reaches a store, large or small'),
    ),
  ),
  section(
    'Access key lifecycle',
    row(
      'A key expires a year after creation, or the days that were chosen; then 401.',
      at('start/cli.test', 'key create shows the key once; key list shows what is kept of it'),
      at(door, 'an expired key is 401 everywhere'),
    ),
    row(
      'A revoked key is 401 with its next request.',
      at(door, 'a revoked key is 401 with its next request, on the same connection too'),
      at('start/cli.test', 'a revoked key is refused with its next request'),
    ),
    row(
      'Rotation makes a new key, shown once; both work until the overlap ends.',
      at(
        'start/keys-cli.test',
        'lets both keys work during the overlap, and marks nothing else',
        'without an overlap ends the old key with its next request',
      ),
    ),
    row(
      'Keys are made by who may manage sources, after a fresh strong sign-in.',
      at('app/keys.test', 'not who checked the passkey six minutes ago', 'not who only reads'),
      at(
        'browser/flow.browser.test',
        'a sign-in that is too old is asked for in place, and what was typed stays',
        'who may only read sees nothing that changes, and cannot do it either',
      ),
    ),
  ),
  section(
    'Webhook signing secret',
    row(
      'After a rotation the new secret works at once, the old one for 24 hours.',
      at(webhooks, 'after a rotation both secrets hold, and each delivery knows which one it was'),
      at(webhooks, 'the end of an old secret is exclusive, and a redelivery needs one that works'),
    ),
    row(
      'A second rotation within that time ends the older secret at once.',
      at(webhooks, 'a second rotation ends the older secret at once'),
      at('start/keys-cli.test', 'rotate: the old one works on, a second rotation ends it at once'),
    ),
  ),
  section(
    'POST /v1/ingest — push one delivery',
    row(
      'It needs a key with scope write or read_write.',
      at(door, 'a key of scope $scope: push $push, read $samples'),
    ),
    row(
      '202 carries the receipt and the three RateLimit headers.',
      at(receipts, 'a push is answered 202 with a receipt of exactly the four fields'),
      at(rates, 'the headers tell what is left, and when the bucket is full again'),
    ),
    row(
      '400: not well formed, or a field missing, with field.',
      at(refusals, 'a push with %s is 400', 'a document with %s is 400'),
    ),
    row(
      '401: key missing, unknown, revoked or expired.',
      at(door, '%s is 401 everywhere', 'an expired key is 401 everywhere'),
    ),
    row(
      '403: insufficient_scope, or a production key from the reference site.',
      at(door, 'a key of scope $scope: push $push, read $samples'),
      at(site, 'from the site (%s) is 403'),
    ),
    row(
      '413: over 8388608 bytes, invalid_argument with field.',
      at(
        limit,
        'a document of 8 MiB and a byte is 413 and claims nothing, ${how}',
        'a push of exactly 8 MiB is accepted, one byte more is 413, ${how}',
        '%s sees the 413 while it still sends',
      ),
    ),
    row(
      '429: Retry-After and the three RateLimit headers.',
      at(rates, 'three are admitted, the fourth is 429, and who waits Retry-After is admitted'),
    ),
    row(
      'A repeated idempotency key gives the same receipt and stores nothing.',
      at(receipts, '${way}: the same key gives the first receipt, byte for byte'),
      at(receipts, '%s give one artifact and 200 equal receipts'),
    ),
    row(
      'A key with another payload (left open): the first receipt, and the answer says so.',
      at(receipts, '${way}: other bytes under a used key give the first receipt and are told'),
    ),
    row(
      "A document's shape version (left open): by header, else the current one.",
      at(receipts, 'the same bytes stay one delivery under a later shape version'),
      at(refusals, 'a document with %s is 400'),
    ),
  ),
  section(
    "GET /v1/samples — read the source's samples over a window",
    row(
      'It needs a key with scope read or read_write.',
      at(door, 'a key of scope $scope: push $push, read $samples'),
    ),
    row(
      'from is inclusive, to exclusive; unset they reach as far as the window, and to tomorrow.',
      at(
        reads,
        'without from and to the window ends tomorrow in the company zone',
        '$query reads $from to $to, narrowed: $narrowed',
      ),
    ),
    row(
      "The samples are those of the key's source, newest first.",
      at(
        reads,
        'a key reads its own source only',
        'the newest come first, then by metric, labels as UTF-8 bytes, sandbox',
      ),
    ),
    row(
      'Superseded samples are left out.',
      at(
        'protocol/supersession-cases',
        'a later delivery replaces what it repeats and leaves the rest',
        'a superseded sample is absent from the moment its successor is readable',
      ),
    ),
    row(
      'The window is at most 731 days; a from further back is moved forward.',
      at(reads, '$query reads $from to $to, narrowed: $narrowed'),
    ),
    row(
      'At most 5000 samples come back; more is told by truncated.',
      at(reads, 'more than 5,000 samples are truncated to the first 5,000 of the order'),
    ),
    row(
      '200 carries the three RateLimit headers.',
      at(rates, 'the headers tell what is left, and when the bucket is full again'),
    ),
    row(
      '400: from or to is no date, or from is not before to.',
      at(reads, '$query is 400 on $field'),
    ),
    row('401 as for a push.', at(door, '%s is 401 everywhere')),
    row(
      '403: insufficient_scope or docs_origin_needs_sandbox.',
      at(door, 'a key of scope $scope: push $push, read $samples'),
      at(site, 'from the site (%s) is 403'),
    ),
    row(
      '429 with Retry-After and the RateLimit headers.',
      at(rates, 'Retry-After is true to the second, whenever in a second one asks'),
    ),
  ),
  section(
    'POST /v1/webhooks/{source_id} — deliver one webhook',
    row(
      'An access key does not open it, and a write key does not push to a webhook source.',
      at(refused, 'an access key does not open the address of a webhook'),
      at(door, 'a write key cannot push to a webhook source'),
    ),
    row(
      'Service-Delivery-Id: letters, digits, dash, underscore, colon; at most 200; the key.',
      at(webhooks, 'the delivery id %s is taken'),
      at(refused, 'a webhook with %s is 400'),
    ),
    row(
      'X-Service-Shape-Version names the version; without it the current one.',
      at(
        webhooks,
        'the shape version is the current one, or the one named',
        'the shape version %j is 400, but only for a new delivery',
      ),
    ),
    row(
      'The body is one JSON object, an array of them, or CSV with a header row.',
      at(webhooks, '%s is parsed to samples'),
    ),
    row(
      'It is stored exactly as it came and parsed afterwards.',
      at(webhooks, '%s is taken, kept as it is and rejected in parsing (chunked: ${chunked})'),
    ),
    row(
      '202 with the receipt; the same id gives the first receipt and stores nothing.',
      at(
        webhooks,
        'a signed webhook is answered 202 with a receipt, and never sandbox',
        'the same id gives the first receipt, byte for byte, and stores nothing',
        '%s give one artifact and equal receipts',
      ),
    ),
    row(
      '400: signature header or delivery id malformed, or time outside the window.',
      at(refused, 'a webhook with %s is 400', 'a signature of %i seconds from now is 400'),
    ),
    row(
      '401: no signature header.',
      at(refused, 'a webhook without a signature header is 401, without a challenge'),
    ),
    row(
      '404: no source, no webhook source, or wrong secret; all answer identically.',
      at(refused, 'the 404 is the same byte for byte, whatever its cause'),
      at('security/refusals.test', '%s is refused in the time of a wrong secret'),
    ),
    row(
      '413: over 8388608 bytes, too_large.',
      at(refused, 'one byte over 8 MiB is 413 (chunked: %s)'),
    ),
    row(
      '415: neither JSON nor CSV.',
      at(
        refused,
        'the media type %s is 415',
        'the media type is judged by its header alone, whatever the body is',
      ),
    ),
    row(
      '429: too many deliveries on the source; 202 and 429 carry the RateLimit headers.',
      at(rates, 'a webhook source has a rate of its own, with the same headers'),
    ),
    row(
      '5XX: could not be taken; retry.',
      at('openapi/answers.test', '$status when what is needed fails: $fault.message'),
      at(
        'protocol/crowd.test',
        'give way to a large webhook, two of them every two seconds, with a 503',
      ),
    ),
  ),
];
