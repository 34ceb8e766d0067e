import { errorTable } from '../../domain/errors.ts';
import { limits } from '../../domain/limits.ts';

/** Of the document and of the additions within v1; the address says v1. */
export const apiVersion = '1.3.0';

const intro = `weir takes in the numbers that a company pushes from its own systems.
Every delivery is stored as received before anything parses it;
a receipt says that its bytes are durable.`;

const keys = `## Access keys

\`Authorization: Bearer <ACCESS_KEY>\`, never in the address. A key belongs to one source and
has one scope: \`read\`, \`write\` or \`read_write\`. What a sandbox key sends is marked test
and never reaches a report. The interactive reference site takes sandbox keys and the demo key
only.`;

const idempotency = `## Idempotency

Every delivery has an idempotency key. The same key, or the same bytes, gives the first
receipt again, for ever and byte for byte, and stores nothing (\`Idempotency-Replayed\`;
\`Idempotency-Body-Differs\` when a known key came with other bytes). So a push, a document or
a webhook may be sent again until it has its receipt.`;

const rates = `## Limits

A key makes 60 requests a minute, 20 at once, pushes and reads together; a webhook source
takes as many deliveries; the demo key has 10 a minute, 5 at once, for each client network.
\`RateLimit-*\` say what is left. A delivery has at most ${limits.deliveryBytesMax} bytes.`;

const versioning = `## Versions

The version is in the path. Additions happen inside a version: new fields, headers, operations
and codes may come, so readers pass over what they do not know. A removal or a rename is a new
version, and both run for 90 days before the old one stops.

Changelog of v1:

- 1.0: push endpoint, receipt, error shape.
- 1.1: access keys carry a scope (\`read\`, \`write\`, \`read_write\`); the samples read endpoint
  is added; keys made before are \`write\`.
- 1.2: webhooks: a signed address for each webhook source, signing secret, rotation, retry
  contract; a write key no longer pushes to a webhook source.
- 1.3: \`GET /v1/deliveries/{artifact_id}\`, \`sandbox\` as a parameter of reads, \`ETag\`, and
  this document.`;

/** The description of the whole, in Markdown. */
export function infoDescription(): string {
  return [intro, keys, idempotency, rates, errorsSection(), versioning].join('\n\n');
}

function errorsSection(): string {
  return `## Errors

Branch on status and \`code\`. Send again after 429, 5xx and timeouts; nothing else unchanged.
An unknown address is 404 and a known one with another method 405 with \`Allow\`, before
anything else is judged. What the HTTP parser itself refuses (a malformed request line or
header: 400, a head that is too large: 431, another HTTP version: 505) comes as its own short
page and closes the connection.

${errorsMarkdown()}`;
}

/** The table of errors in Markdown; the README has it too. */
export function errorsMarkdown(): string {
  const rows = Object.entries(errorTable).map(([code, row]) => {
    const again = row.retry ? 'yes' : 'no';
    return `| ${row.statuses.join(', ')} | \`${code}\` | ${row.means} | ${again} | ${row.hint} |`;
  });
  return [
    '| status | code | what it means | send again | what to do |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}
