import type { Guide } from './guide.ts';

export const firstDelivery: Guide = {
  title: 'A first delivery in five minutes',
  summary: 'Declare a metric and a source, push one record, and read it back.',
  text: (api) => `
You need a user who may manage sources, and \`curl\`. Everything here uses a sandbox key: what it
sends is marked as a test and stays out of charts and reports.

## 1. Declare what you send

On [Metrics](/metrics), declare a metric: key \`mrr\`, name "Recurring revenue", unit \`EUR\`,
label \`plan\`. The key is what programs call it and never changes.

Then make a [new source](/sources/new) that is delivered by push, with three fields:

| Field | Role | More |
|---|---|---|
| \`month\` | period | grain \`month\` |
| \`mrr\` | value | metric \`mrr\` |
| \`plan\` | label | |

## 2. Make a key

On the source's **Developer** tab, make a key that reads and writes, and tick **Sandbox**. You
may be asked for your passkey. The key is shown once: copy it now.

\`\`\`sh
export WEIR_KEY="<the key you copied>"
\`\`\`

## 3. Push a record

\`\`\`sh
curl -sS -H "Authorization: Bearer $WEIR_KEY" -H "Content-Type: application/json" \\
  --data-binary '{
    "idempotency_key": "first-delivery",
    "shape_version": 1,
    "payload": {"month": "2026-01", "mrr": "10.50", "plan": "pro"}
  }' ${api}/v1/ingest
\`\`\`

The answer is a receipt. It says that the bytes are stored for good; they are parsed just after.
Amounts are texts, so that \`10.50\` stays \`10.50\`.

Run the same command again: you get the same receipt, and nothing is stored twice. So a program may
send again until it has one.

## 4. See what became of it

\`\`\`sh
export ARTIFACT_ID="<the artifact_id of your receipt>"
\`\`\`

\`\`\`sh
curl -sS -H "Authorization: Bearer $WEIR_KEY" ${api}/v1/deliveries/$ARTIFACT_ID
\`\`\`

\`status\` goes from \`queued\` to \`parsed\`, most often within a second. A record that does not
fit the shape is in \`rejections\`, with its line, field and reason. The source's **Deliveries**
tab shows the same, and the bytes as they came.

## 5. Read the sample

\`\`\`sh
curl -sS -H "Authorization: Bearer $WEIR_KEY" \\
  "${api}/v1/samples?from=2026-01-01&to=2026-02-01"
\`\`\`

On the source's **Samples** tab, tick **With sandbox samples** to see it, and click the value: its
history leads back to the delivery and to the record in it.

## Then

Make a key without sandbox for the program that sends. Read [corrections](/guides/corrections)
before you send a month twice, and [errors](/guides/errors) before you write what happens when a
push fails. Every operation is in the [API reference](/reference).
`,
};
