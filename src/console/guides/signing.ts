import { limits } from '../../domain/limits.ts';
import type { Guide } from './guide.ts';

export const signing: Guide = {
  title: 'Signing a webhook',
  summary: 'How a webhook proves who sent it, in a shell, in Node and in Python.',
  text: () => `
A webhook source has an address and a signing secret instead of an access key. Both are on its
**Developer** tab; the secret is shown once, when it is made. It is used exactly as it is shown,
prefix included.

## What is signed

Each delivery has an id of your choice: letters, digits, \`-\`, \`_\`, \`:\`, at most
${limits.deliveryIdCharsMax} of them. Sign the text

- the time in unix seconds, a dot, the delivery id, a dot, and the body, byte for byte

with HMAC-SHA256 under the secret, in lowercase hex, and send two headers:

- \`Service-Signature: t=<the time>,v1=<the signature>\`
- \`Service-Delivery-Id: <the id>\`

The time must be within ${limits.signatureToleranceSeconds} seconds of the service's clock. Sign
each attempt anew, under the same delivery id: the id makes the attempts one delivery.

## In a shell

\`\`\`sh
export ADDRESS="<the address of the source>"
export SECRET="<its signing secret>"
\`\`\`

\`\`\`sh
BODY='{"month": "2026-01", "mrr": "10.50", "plan": "pro"}'
ID=example-shell
T=$(date +%s)
V1=$(printf '%s.%s.%s' "$T" "$ID" "$BODY" |
  openssl dgst -sha256 -hmac "$SECRET" -r | cut -d ' ' -f 1)
curl -sS -H "Service-Signature: t=$T,v1=$V1" -H "Service-Delivery-Id: $ID" \\
  -H "Content-Type: application/json" --data-binary "$BODY" "$ADDRESS"
\`\`\`

## In Node

\`\`\`js
import { createHmac } from 'node:crypto';

const { ADDRESS, SECRET } = process.env;
const body = JSON.stringify([{ month: '2026-02', mrr: '11.00', plan: 'pro' }]);
const id = 'example-node';
const time = Math.floor(Date.now() / 1000);
const v1 = createHmac('sha256', SECRET).update(\`\${time}.\${id}.\${body}\`).digest('hex');
const answer = await fetch(ADDRESS, {
  method: 'POST',
  headers: {
    'Content-Type': 'application/json',
    'Service-Delivery-Id': id,
    'Service-Signature': \`t=\${time},v1=\${v1}\`,
  },
  body,
});
console.log(await answer.text());
\`\`\`

## In Python

\`\`\`python
import hashlib, hmac, json, os, time, urllib.request

body = json.dumps([{"month": "2026-03", "mrr": "11.50", "plan": "pro"}]).encode()
delivery_id = "example-python"
t = str(int(time.time()))
signed = f"{t}.{delivery_id}.".encode() + body
v1 = hmac.new(os.environ["SECRET"].encode(), signed, hashlib.sha256).hexdigest()
request = urllib.request.Request(os.environ["ADDRESS"], data=body, headers={
    "Content-Type": "application/json",
    "Service-Delivery-Id": delivery_id,
    "Service-Signature": f"t={t},v1={v1}",
})
print(urllib.request.urlopen(request).read().decode())
\`\`\`

## When it is refused

| Answer | Why |
|---|---|
| 400 on \`Service-Signature\` | It is malformed, or its time is too far from now. |
| 400 on \`Service-Delivery-Id\` | The id is missing or has other characters. |
| 401 | There is no signature header. |
| 404 | Wrong address or wrong secret: one answer, so that nobody can try addresses. |

A 404 from an address that is right is nearly always the body: what was signed is not what was sent.
Sign the bytes that leave, after all encoding, and let nothing lay out the JSON again.

## A new secret

**Rotate secret** on the Developer tab shows a new secret once. The old one opens for
${limits.oldSecretHours} more hours, and the tab shows when it was last used, so deploy the new
one and see the old one go quiet. A second rotation within that time ends the older secret at
once.

## Sending again

Send again after 429 (when \`Retry-After\` is over), 5xx and timeouts: first after 30 seconds,
then twice as long each time up to an hour, with some chance in it, for three days. \`npx weir
send\` does all of this.
`,
};
