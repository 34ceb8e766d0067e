import { limits as all } from '../../domain/limits.ts';
import type { Guide } from './guide.ts';

const count = (value: number) => value.toLocaleString('en');
const mebibytes = (bytes: number) => `${bytes / 1024 / 1024} MiB`;

const rows: readonly (readonly [what: string, limit: string, beyond: string])[] = [
  [
    'Bytes of a delivery',
    `${count(all.deliveryBytesMax)} (${mebibytes(all.deliveryBytesMax)})`,
    '413',
  ],
  ['Bytes that a packed delivery unpacks to', mebibytes(all.unpackedBytesMax), 'rejected'],
  ['Characters of an idempotency key', count(all.idempotencyKeyCharsMax), '400'],
  ["Characters of a webhook's delivery id", count(all.deliveryIdCharsMax), '400'],
  ["Seconds that a signature's time may be off", count(all.signatureToleranceSeconds), '400'],
  ['Records of a delivery', count(all.recordsMax), 'rejected'],
  ['Columns of a table', count(all.columnsMax), 'rejected'],
  ['Digits of a value', count(all.valueDigitsMax), 'record rejected'],
  ['Characters of a label', count(all.labelCharsMax), 'record rejected'],
  [
    'Rejections that a delivery shows by the API',
    count(all.rejectionsShownMax),
    'the first are shown',
  ],
  [
    'Days of a window that is read',
    count(all.windowDaysMax),
    '`from` is moved, `narrowed` says so',
  ],
  ['Samples of an answer', count(all.samplesPerAnswerMax), '`truncated` says so'],
  ['Characters of a metric key', count(all.metricKeyCharsMax), 'not saved'],
  ['Days that a key lives, unless it is made for others', count(all.keyLifetimeDays), '401'],
  ['Hours that an old signing secret goes on', count(all.oldSecretHours), 'it opens nothing'],
];

export const limits: Guide = {
  title: 'Limits',
  summary: 'How much, how long, how often, and what happens beyond.',
  text: () => `
| What | Limit | Beyond it |
|---|---|---|
${rows.map((row) => `| ${row.join(' | ')} |`).join('\n')}

"Rejected" means that the delivery is stored and answered with a receipt, and that parsing rejects
it: the **Deliveries** tab says why. What is refused with a status was not stored.

## Rates

Each key, and each webhook source, has a bucket of requests that fills evenly. Reads and pushes take
from the same bucket. Three headers are on each answer:

- \`RateLimit-Limit\`: requests a minute.
- \`RateLimit-Remaining\`: how many are left now.
- \`RateLimit-Reset\`: seconds until the bucket is full.

Beyond it the answer is 429 with \`Retry-After\`: wait so many seconds, then send the same again. A
refused key takes nothing from the bucket.

To send much, send large deliveries instead of many: a document of
${mebibytes(all.deliveryBytesMax)} is one request.

## Windows

A read goes back ${count(all.windowDaysMax)} days from \`to\`, which is tomorrow when it is not
given. For older periods give \`from\` and \`to\`. When \`truncated\` is true, ask for narrower
windows.
`,
};
