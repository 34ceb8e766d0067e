// biome-ignore-all lint/suspicious/noTemplateCurlyInString: titles as they stand in the tests
import { at, row, type Section, section } from './rows.ts';

const receipts = 'protocol/receipt-cases';
const reads = 'protocol/read-cases';
const refusals = 'protocol/refusal-cases';
const webhooks = 'protocol/webhook-cases';
const deliveries = 'protocol/delivery-cases';
const values = 'protocol/value-cases';
const demo = 'start/demo-deployment.test';

/** "What the service does" and "Resources and their fields". */
export const resources: readonly Section[] = [
  section(
    'What the service does',
    row(
      'A delivery is stored as received before it is parsed.',
      at(receipts, '${way}: a receipt is given for bytes that are stored as they came'),
      at(
        deliveries,
        'a push that cannot be parsed is stored, answered and rejected with its field',
      ),
    ),
    row(
      'Every sample leads back to the stored delivery it came from.',
      at(demo, 'leads each sample back to a stored delivery'),
      at(reads, 'the answer has exactly the fields of the specification'),
    ),
    row(
      'A push is answered with a receipt, not with samples.',
      at(receipts, 'a push is answered 202 with a receipt of exactly the four fields'),
    ),
    row(
      'The operations are push, read and webhook; other addresses and methods are refused.',
      at(
        'protocol/door-cases',
        'the unknown path %s is 404',
        '$path takes $allow only: others are 405 with Allow',
      ),
      at('openapi/document.test', 'has every route and no other'),
    ),
    row(
      'A source has a shape; each save makes the next version, the first is 1.',
      at('contract/catalog/directory', 'start at shape version 1'),
      at(refusals, 'every shape version that exists is taken, each with its own required fields'),
    ),
    row(
      'Deliveries come as JSON pushes, raw documents or signed webhooks.',
      at(receipts, '${way}: a receipt is given for bytes that are stored as they came'),
      at(webhooks, 'a signed webhook is answered 202 with a receipt, and never sandbox'),
    ),
    row(
      'What a sandbox key stores is marked test and kept apart.',
      at(receipts, "a sandbox key's receipt says so, and its samples are marked test"),
      at(
        'protocol/door-cases',
        'what a sandbox key stores is not read as production, nor the reverse',
      ),
      at('protocol/supersession-cases', 'sandbox never supersedes production, nor the reverse'),
    ),
    row(
      'The same idempotency key gives the same receipt and stores nothing twice.',
      at(receipts, '${way}: the same key gives the first receipt, byte for byte'),
    ),
    row(
      'A demo deployment serves fixture data only.',
      at(demo, 'answers a read without parameters with all fixture samples, without a set-up'),
    ),
  ),
  section(
    'Delivery (request body of POST /v1/ingest, JSON)',
    row(
      'The idempotency key is required, at most 200 characters.',
      at(refusals, 'a push with %s is 400'),
      at('openapi/document.test', 'the length of a key is counted in code points on both sides'),
    ),
    row(
      'The shape version is required, at least 1, and one of the source.',
      at(refusals, 'a push with %s is 400'),
      at(refusals, 'every shape version that exists is taken, each with its own required fields'),
    ),
    row(
      'The payload is required and matches the shape; its values are text.',
      at(refusals, 'a push with %s is 400'),
    ),
    row(
      'An amount is an exact decimal given as text.',
      at(values, 'a push: every decimal of at most 76 digits comes back as sent'),
    ),
    row(
      'A document is raw bytes; its key is in the Idempotency-Key header.',
      at(refusals, 'a document without Idempotency-Key is 400', 'a document with %s is 400'),
    ),
  ),
  section(
    'Receipt (response of 202)',
    row(
      'It has artifact_id (a uuid), shape_version, status "queued" and sandbox.',
      at(receipts, 'a push is answered 202 with a receipt of exactly the four fields'),
    ),
    row(
      'sandbox is true for a sandbox key.',
      at(receipts, "a sandbox key's receipt says so, and its samples are marked test"),
    ),
    row(
      'shape_version is the version the delivery will be parsed under.',
      at(webhooks, 'the shape version is the current one, or the one named'),
      at(receipts, 'the same bytes stay one delivery under a later shape version'),
    ),
  ),
  section(
    'Sample',
    row(
      'It has metric, period_start, value, labels, sandbox and artifact_id.',
      at(reads, 'the answer has exactly the fields of the specification'),
    ),
    row(
      "period_start is the first day of the period, in the company's timezone.",
      at(
        'protocol/period-cases',
        'a period of grain %s starts on its first day',
        'date-times land on the day of %s',
      ),
    ),
    row(
      'value is the exact decimal, kept as text.',
      at(
        values,
        'a push: every decimal of at most 76 digits comes back as sent',
        'numbers in JSON documents are taken by their source text',
      ),
      at(webhooks, 'a number in JSON keeps its text'),
    ),
    row(
      'A field marked personal never reaches a sample.',
      at(deliveries, 'a personal field never reaches a sample'),
    ),
  ),
  section(
    'Samples (response of GET /v1/samples, 200)',
    row(
      'It has source_id, window, samples (newest first) and truncated.',
      at(
        reads,
        'the answer has exactly the fields of the specification',
        'the newest come first, then by metric, labels as UTF-8 bytes, sandbox',
      ),
    ),
    row(
      'truncated tells that the window held more than one answer.',
      at(
        reads,
        'more than 5,000 samples are truncated to the first 5,000 of the order',
        'exactly 5,000 samples are not truncated',
      ),
    ),
  ),
  section(
    'Window',
    row(
      'from is the first day read, to the day after the last, max_days the widest window.',
      at(
        reads,
        '$query reads $from to $to, narrowed: $narrowed',
        'the answer has exactly the fields of the specification',
      ),
      at('protocol/period-cases', 'a day outside the window is not read, at either end'),
    ),
    row(
      'narrowed tells that from was moved forward.',
      at(reads, '$query reads $from to $to, narrowed: $narrowed'),
    ),
  ),
  section(
    'Error',
    row(
      'It has code, message (one plain sentence) and, when it is about one, field.',
      at(refusals, 'a push with %s is 400'),
      at('protocol/webhook-refusal-cases', 'a webhook with %s is 400'),
      at('openapi/document.test', 'has each status and code of the table of errors'),
    ),
    row('No message quotes what was sent.', at(refusals, 'no message quotes what was sent')),
  ),
  section(
    'Access key',
    row(
      'A key belongs to one source of one company.',
      at(reads, 'a key reads its own source only'),
      at(
        'protocol/tenancy.test',
        'what is foreign is answered as what does not exist, to the byte',
      ),
    ),
    row(
      'It has one scope, fixed at creation.',
      at('protocol/door-cases', 'a key of scope $scope: push $push, read $samples'),
    ),
    row(
      'It has an expiry and a last-used time.',
      at('protocol/door-cases', 'an expired key is 401 everywhere'),
      at(
        'protocol/reference-site.test',
        'are recorded within 10 seconds, and never by a refused request',
      ),
    ),
    row(
      'It is shown once.',
      at('start/cli.test', 'key create shows the key once; key list shows what is kept of it'),
    ),
  ),
  section(
    'Webhook source',
    row(
      'It has an address of its own and a signing secret, shown once when it becomes one.',
      at(
        'start/keys-cli.test',
        'are shown once, when a source becomes a webhook source, and open it',
      ),
    ),
  ),
];
