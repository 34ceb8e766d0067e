import type { Guide } from './guide.ts';

export const corrections: Guide = {
  title: 'Corrections',
  summary: 'How a later delivery replaces a number, and what never changes one.',
  text: (api) => `
A number is never overwritten. A later delivery gives the same number again, and from then on the
later one is read; the earlier one stays in its history.

## What makes it the same number

The same source, metric, period and labels. Send all four as they were, with another value:

\`\`\`sh
export WEIR_KEY="<a key of scope read_write>"
\`\`\`

\`\`\`sh
for value in 10.50 12.00; do
  curl -sS -H "Authorization: Bearer $WEIR_KEY" -H "Content-Type: application/json" \\
    --data-binary '{
      "idempotency_key": "mrr-2026-01-is-'$value'",
      "shape_version": 1,
      "payload": {"month": "2026-01", "mrr": "'$value'", "plan": "pro"}
    }' ${api}/v1/ingest
done
\`\`\`

\`\`\`sh
curl -sS -H "Authorization: Bearer $WEIR_KEY" \\
  "${api}/v1/samples?from=2026-01-01&to=2026-02-01"
\`\`\`

The delivery that was accepted later wins, whatever their times say and whichever is parsed first.
Within one delivery the later record wins.

## What corrects nothing

- **The same idempotency key.** It gives the first receipt again and stores nothing, also with other
  bytes; then \`Idempotency-Body-Differs: true\` says so, and the **Deliveries** tab shows it. A
  correction needs a key of its own.
- **The same bytes.** They are the same delivery, under any key. To bring an old value back, send it
  in bytes that differ, such as with another idempotency key inside a push.
- **A blank value.** It gives no sample, so the number that was there stays.
- **A sandbox key.** Tests never replace production numbers, nor the reverse.
- **Another label or period.** That is another number; both are read.

## When the shape was wrong

The bytes are all there. Correct the shape on the **Shape** tab: it shows what the deliveries that
are stored would become before anything is saved. Then parse deliveries again from the
**Deliveries** tab. They keep their place: a later correction still wins over them.

## Why is a number what it is

Click it on the **Samples** tab: every value it ever had, from which delivery and record each
came, and the bytes themselves.
`,
};
