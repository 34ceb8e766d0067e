import { errorTable } from '../../domain/errors.ts';
import type { Guide } from './guide.ts';

const rows = Object.entries(errorTable).map(
  ([code, { statuses, means, retry, hint }]) =>
    `| ${statuses.join(', ')} | \`${code}\` | ${means} | ${retry ? 'yes' : 'no'} | ${hint} |`,
);

export const errors: Guide = {
  title: 'Errors',
  summary: 'What each error means, and whether to send again.',
  text: () => `
Every error has a status and a JSON object:

- \`code\` is for programs. It never changes its meaning within a version.
- \`message\` is one plain sentence for people. Do not read it by program.
- \`field\` names what of the request it is about, where there is such a thing.

## Send again, or not

**Send again after 429, 5xx and a connection that broke.** Wait \`Retry-After\` where it is given,
else 30 seconds and twice as long each time. Use the same idempotency key: if the first attempt
was stored after all, you get its receipt.

**Do not send anything else again unchanged.** It will be refused again.

## All codes

| Status | Code | What it means | Send again | What to do |
|---|---|---|---|---|
${rows.join('\n')}

An address that is unknown is 404, and a known one with another method 405, before anything else is
judged.

## What is no error

A receipt (202) says that the bytes are stored, not that they fit the shape. Records that do not fit
are rejected when the delivery is parsed, the good ones beside them are not. Look at
\`GET /v1/deliveries/{artifact_id}\`, or at the **Deliveries** tab, which counts them.
`,
};
