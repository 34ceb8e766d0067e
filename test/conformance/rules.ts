// biome-ignore-all lint/suspicious/noTemplateCurlyInString: titles as they stand in the tests
import { at, row, type Section, section } from './rows.ts';

const door = 'protocol/door-cases';
const webhooks = 'protocol/webhook-cases';
const refused = 'protocol/webhook-refusal-cases';
const rates = 'protocol/rates.test';
const site = 'protocol/reference-site.test';
const demo = 'start/demo-deployment.test';
const sender = 'client/deliver.test';
const waits = 'client/waits.test';

/** "Authentication", "Events", "Errors", "Limits" and "Versioning". */
export const rules: readonly Section[] = [
  section(
    'Access keys',
    row(
      'The key is in Authorization: Bearer, never in the address.',
      at(
        door,
        'a key in the address is no key',
        'the scheme is taken in any case (RFC 9110, section 11.1)',
      ),
    ),
    row(
      'It reads and pushes for its source only.',
      at(
        'protocol/tenancy.test',
        'a read tells the samples of its own source only',
        'what is foreign is answered as what does not exist, to the byte',
        "another's idempotency key and another's bytes are stored anew",
      ),
    ),
    row(
      'Scopes: read reads, write pushes, read_write does both; else 403.',
      at(door, 'a key of scope $scope: push $push, read $samples'),
    ),
    row(
      'A key made before scopes existed is write.',
      at(door, 'a key made before scopes existed is write'),
    ),
    row(
      'Expired, revoked, unknown and missing keys get one 401.',
      at(door, '%s is 401 everywhere', 'an expired key is 401 everywhere'),
      at(door, 'a revoked key is 401 with its next request, on the same connection too'),
      at('security/timing.test', 'takes the same time with %s and with %s'),
    ),
    row(
      'Rotation keeps scope and sandbox; both keys work during the overlap.',
      at('start/keys-cli.test', 'answers a key with the same scope and sandbox, for a year'),
      at('start/keys-cli.test', 'lets both keys work during the overlap, and marks nothing else'),
    ),
    row(
      "A sandbox key's output is marked test.",
      at(
        'protocol/receipt-cases',
        "a sandbox key's receipt says so, and its samples are marked test",
      ),
    ),
    row(
      'Making a key needs sources.manage and a fresh strong sign-in.',
      at('app/keys.test', 'not who checked the passkey six minutes ago', 'not who only reads'),
      at(
        'browser/flow.browser.test',
        'a sign-in that is too old is asked for in place, and what was typed stays',
        'who may only read sees nothing that changes, and cannot do it either',
      ),
    ),
  ),
  section(
    'Interactive reference site and demo key',
    row(
      'From the site sandbox keys and the demo key are taken.',
      at(site, 'a sandbox key from the site (%s) works'),
      at(demo, 'takes the demo key from the reference site'),
    ),
    row(
      'A production key from there is 403 before anything is read.',
      at(
        site,
        'from the site (%s) is 403',
        'from the site is refused before one byte of its body is read',
      ),
    ),
    row(
      'It records no use.',
      at(site, 'are recorded within 10 seconds, and never by a refused request'),
    ),
    row(
      'The demo key reads fixture samples and cannot push.',
      at(demo, 'refuses a push with the demo key', 'prints its key at the start'),
    ),
  ),
  section(
    'Webhook signature',
    row(
      'The secret is used exactly as shown, prefix included.',
      at(
        'domain/signature.test',
        'is the HMAC of time, delivery id and raw body under the secret as shown',
      ),
    ),
    row(
      'It is the HMAC-SHA256 of time, delivery id and raw body, in lower-case hex.',
      at(
        webhooks,
        'a signed webhook is answered 202 with a receipt, and never sandbox',
        'a signature holds over chunks of %i bytes',
      ),
      at(
        'client/signature.test',
        "the sender's signature is the service's, for any secret, id, body and time",
      ),
    ),
    row(
      'More than 300 seconds from the clock, either way, is 400.',
      at(rates, 'a signature of exactly 300 seconds from now is taken, of 301 not'),
      at(refused, 'a signature of %i seconds from now is 400'),
    ),
    row(
      'The delivery id is part of what is signed.',
      at(refused, 'the 404 is the same byte for byte, whatever its cause'),
    ),
    row(
      'During a rotation both secrets work.',
      at(webhooks, 'after a rotation both secrets hold, and each delivery knows which one it was'),
    ),
  ),
  section(
    'Webhook delivery contract (for senders)',
    row('2xx: do not send again.', at(sender, '2xx: taken, not sent again')),
    row('400, 401, 404, 413, 415: do not retry.', at(sender, 'final answers are not retried')),
    row(
      '429: wait Retry-After.',
      at(sender, 'waits the seconds of Retry-After, then 202'),
      at(rates, 'three are admitted, the fourth is 429, and who waits Retry-After is admitted'),
    ),
    row(
      '5xx: from 30 seconds, doubling to an hour, with jitter; for 3 days.',
      at(
        waits,
        'is never over an hour and never under 15 s',
        'after %i failures before it is at most %i s, and at least half of that',
      ),
      at(sender, 'for three days, with %s: gives up after %3$i attempts'),
    ),
    row(
      'Each attempt is signed anew, under the same id.',
      at(sender, 'connection reset, then 202: the same id, signed anew'),
    ),
    row(
      'A redelivery gives the first receipt, however late it comes.',
      at(webhooks, 'the same id gives the first receipt, byte for byte, and stores nothing'),
    ),
    row(
      'Byte-identical bodies are one delivery, whatever their ids.',
      at(webhooks, 'the same body under another id is one delivery with two names'),
    ),
  ),
  section(
    'Errors',
    row(
      'Every status and code of the table comes from a live service.',
      at('openapi/answers.test', 'nothing of the document was left out'),
      at('openapi/document.test', 'has each status and code of the table of errors'),
    ),
    row(
      '404 comes for a webhook nobody takes, 405 and 404 for other methods and addresses.',
      at(refused, 'other methods are 405 with Allow, signed or not'),
      at(door, 'the unknown path %s is 404'),
    ),
    row(
      'Checks come in one order.',
      at(door, '401 comes before 403, 403 before 413 and 413 before 400'),
      at(refused, '404 comes before the shape version'),
      at(rates, 'a webhook is 429 before it is a replay, and 404 whatever its rate'),
    ),
    row(
      'Pushes are safe to retry under the same key, also when they race.',
      at('protocol/receipt-cases', '%s give one artifact and 200 equal receipts'),
      at(
        'protocol/sender-cases',
        'a half-open sender does not block its own retry (chunked: ${chunked})',
      ),
    ),
  ),
  section(
    'Limits',
    row(
      '60 a minute for a key, reads and pushes together, burst 20.',
      at(rates, '%s over three minutes: 20 and one a second are admitted, never one more'),
    ),
    row(
      '60 a minute for a webhook source, burst 20.',
      at(rates, '%s over three minutes: 20 and one a second are admitted, never one more'),
      at(rates, 'a key, another key of its source and a webhook source count apart'),
    ),
    row(
      'Demo key: 10 a minute for a network, burst 5.',
      at(demo, 'gives a network five reads at once, then one every six seconds'),
    ),
    row(
      'A delivery has at most 8388608 bytes.',
      at('protocol/limit-cases', 'a document of exactly 8 MiB is accepted, ${how}'),
      at(webhooks, 'a webhook of exactly 8 MiB is taken, whole and in chunks'),
      at(refused, 'one byte over 8 MiB is 413 (chunked: %s)'),
    ),
    row(
      'Keys have at most 200 characters, delivery ids too.',
      at('protocol/refusal-cases', 'a push with %s is 400'),
      at(webhooks, 'the delivery id %s is taken'),
    ),
    row(
      'Rate headers are on 200, 202 and 429; Retry-After on 429.',
      at(
        rates,
        'the headers tell what is left, and when the bucket is full again',
        '304, 400 and 404 of a delivery take a token, and carry the headers',
        'what is refused before the rate takes no token and has no rate headers',
        'a 429 takes no token, however often it comes',
      ),
    ),
  ),
  section(
    'Versioning',
    row('The version is in the path; other paths are 404.', at(door, 'the unknown path %s is 404')),
    row(
      'Additions happen inside a version; a removal waits 90 days; v1 has a changelog.',
      at('openapi/document.test', 'says how versions come and go, and what changed in v1'),
    ),
    row(
      'A push names its shape version, a webhook may; the receipt returns it.',
      at(webhooks, 'the shape version is the current one, or the one named'),
      at(
        'protocol/refusal-cases',
        'every shape version that exists is taken, each with its own required fields',
      ),
    ),
  ),
];
