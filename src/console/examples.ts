import type { DeliveryWay, DocumentFormat, Field, Grain, Metric } from '../domain/nouns.ts';
import { labelOf } from '../domain/shapes.ts';

/** Commands that work as they stand, filled in for one source; keys come from the environment. */

export interface ExampleOf {
  readonly apiUrl: string;
  readonly sourceId: string;
  readonly delivery: DeliveryWay;
  readonly format: DocumentFormat;
  readonly version: number;
  readonly fields: readonly Field[];
  readonly metrics: readonly Metric[];
  /** The record's period is the one that holds this day. */
  readonly today: Date;
}

export interface Example {
  readonly name: 'curl' | 'Node' | 'Python';
  readonly text: string;
}

/** How the examples read a key and a secret. */
export const environment = { key: 'WEIR_KEY', secret: 'WEIR_SECRET' } as const;

/** Ends a document within a command; no line of JSON is like it. */
const end = 'END_OF_DELIVERY';

/** Sends one record; sent again, the first receipt comes. */
export function sendingExamples(of: ExampleOf): Example[] {
  const { delivery } = of;
  if (delivery === 'webhook') return webhook(of);
  return delivery === 'push' ? push(of) : documents(of);
}

/** Reads the samples of the default window. */
export function readingExample({ apiUrl }: Pick<ExampleOf, 'apiUrl'>): string {
  return `curl -sS '${apiUrl}/v1/samples' -H "Authorization: Bearer $${environment.key}"`;
}

/** A record that the shape takes: text for each field that matters. */
export function exampleRecord({ fields, metrics, today }: ExampleOf): [string, string][] {
  const key = longMetric(fields, metrics);
  return fields.flatMap((field): [string, string][] => {
    const { name, role, grain = 'day', required = true } = field;
    if (role === 'period') return [[name, periodOf(today, grain)]];
    if (role === 'value') return [[name, '10.50']];
    if (role === 'metric') return [[name, key]];
    if (role === 'label') return [[name, 'example']];
    return required ? [[name, 'example']] : [];
  });
}

/** The first metric whose labels the shape has. */
function longMetric(fields: readonly Field[], metrics: readonly Metric[]): string {
  const labels = new Set(fields.filter(({ role }) => role === 'label').map(labelOf));
  const fits = metrics.find((metric) => metric.labels.every((label) => labels.has(label)));
  return (fits ?? metrics[0])?.key ?? 'metric';
}

function periodOf(day: Date, grain: Grain): string {
  const date = day.toISOString().slice(0, 10);
  const year = date.slice(0, 4);
  if (grain === 'day') return date;
  if (grain === 'month') return date.slice(0, 7);
  if (grain === 'quarter') return `${year}-Q${Math.ceil(Number(date.slice(5, 7)) / 3)}`;
  return grain === 'year' ? year : weekOf(day);
}

/** The ISO week of a day: that of its Thursday. */
function weekOf(day: Date): string {
  const dayMs = 86_400_000;
  const midnight = Math.floor(day.getTime() / dayMs) * dayMs;
  const weekday = (new Date(midnight).getUTCDay() + 6) % 7;
  const thursday = new Date(midnight + (3 - weekday) * dayMs);
  const year = thursday.getUTCFullYear();
  const week = Math.floor((thursday.getTime() - Date.UTC(year, 0, 1)) / dayMs / 7) + 1;
  return `${year}-W${String(week).padStart(2, '0')}`;
}

/** JSON on several lines; JavaScript and Python read it as it stands. */
function json(record: readonly [string, string][], indent: string): string {
  const lines = record.map(([name, text]) => `${indent}  ${quoted(name)}: ${quoted(text)}`);
  return `{\n${lines.join(',\n')}\n${indent}}`;
}

const quoted = (text: string) => JSON.stringify(text);

function push(of: ExampleOf): Example[] {
  const url = `${of.apiUrl}/v1/ingest`;
  const body = (indent: string) =>
    [
      '{',
      `${indent}  "idempotency_key": "${deliveryName(of)}",`,
      `${indent}  "shape_version": ${of.version},`,
      `${indent}  "payload": ${json(exampleRecord(of), `${indent}  `)}`,
      `${indent}}`,
    ].join('\n');
  const headers: Header[] = [authorization, ['Content-Type', 'application/json']];
  return [
    { name: 'curl', text: curl(url, headers, body('')) },
    { name: 'Node', text: node(url, headers, `JSON.stringify(${body('  ')})`) },
    { name: 'Python', text: python(url, headers, `json.dumps(${body('')}).encode()`, 'json, ') },
  ];
}

function documents(of: ExampleOf): Example[] {
  const url = `${of.apiUrl}/v1/ingest`;
  const headers: Header[] = [
    authorization,
    ['Content-Type', 'application/octet-stream'],
    ['Idempotency-Key', deliveryName(of)],
    ['X-Service-Shape-Version', String(of.version)],
  ];
  const { format } = of;
  if (format === 'xlsx' || format === 'parquet') {
    const file = `example.${format}`;
    const fromFile = `await readFile('${file}')`;
    const read = `import { readFile } from 'node:fs/promises';\n\n`;
    return [
      { name: 'curl', text: curl(url, headers, null, file) },
      { name: 'Node', text: read + node(url, headers, fromFile) },
      { name: 'Python', text: python(url, headers, `open("${file}", "rb").read()`, '') },
    ];
  }
  const text = documentText(format, exampleRecord(of));
  return [
    { name: 'curl', text: curl(url, headers, text) },
    { name: 'Node', text: node(url, headers, quoted(`${text}\n`)) },
    { name: 'Python', text: python(url, headers, `${quoted(`${text}\n`)}.encode()`, '') },
  ];
}

function documentText(format: DocumentFormat, record: readonly [string, string][]): string {
  if (format === 'json') return `[${json(record, '')}]`;
  if (format === 'ndjson') {
    return `{${record.map(([name, text]) => `${quoted(name)}:${quoted(text)}`).join(',')}}`;
  }
  const separator = format === 'tsv' ? '\t' : ',';
  const row = (cells: readonly string[]) => cells.map(cell).join(separator);
  return [row(record.map(([name]) => name)), row(record.map(([, text]) => text))].join('\n');
}

/** RFC 4180. */
function cell(text: string): string {
  return /[",\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One name for each version, so that the example of a new shape is a new delivery. */
function deliveryName({ version }: ExampleOf): string {
  return `example-v${version}`;
}

type Header = readonly [name: string, value: string | { readonly bearer: true }];
const authorization: Header = ['Authorization', { bearer: true }];

function curl(url: string, headers: readonly Header[], body: string | null, file = '-'): string {
  const lines = headers.map(([name, value]) =>
    typeof value === 'string'
      ? `  -H '${name}: ${value}' \\`
      : `  -H "${name}: Bearer $${environment.key}" \\`,
  );
  const command = [`curl -sS '${url}' \\`, ...lines, `  --data-binary @${file}`].join('\n');
  if (body === null) return command;
  if (!standsInShell(body)) return `printf '${printfText(`${body}\n`)}' |\n${command}`;
  return `${command} <<'${end}'\n${body}\n${end}`;
}

/**
 * A field's name may have lines of its own: one like `end` would end the document, and the next
 * ones would be run. A terminal takes other control characters for keys, and a CR for Enter.
 */
function standsInShell(body: string): boolean {
  return !/[^\P{Cc}\t\n]/u.test(body) && !body.split('\n').includes(end);
}

/** As `printf` of a shell reads it between apostrophes, on one line. */
function printfText(text: string): string {
  const octal = (byte: number) => `\\${byte.toString(8).padStart(3, '0')}`;
  const bytes = (char: string) => [...new TextEncoder().encode(char)].map(octal).join('');
  return text.replaceAll('%', '%%').replaceAll(/[\\'\p{Cc}]/gu, bytes);
}

function node(url: string, headers: readonly Header[], body: string): string {
  const lines = headers.map(([name, value]) =>
    typeof value === 'string'
      ? `    '${name}': '${value}',`
      : `    ${name}: \`Bearer \${process.env.${environment.key}}\`,`,
  );
  return [
    `const response = await fetch('${url}', {`,
    `  method: 'POST',`,
    '  headers: {',
    ...lines,
    '  },',
    `  body: ${body},`,
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function python(url: string, headers: readonly Header[], body: string, modules: string): string {
  const lines = headers.map(([name, value]) =>
    typeof value === 'string'
      ? `    "${name}": "${value}",`
      : `    "${name}": "Bearer " + os.environ["${environment.key}"],`,
  );
  return [
    `import ${modules}os, urllib.request`,
    '',
    `body = ${body}`,
    `request = urllib.request.Request("${url}", data=body, method="POST", headers={`,
    ...lines,
    '})',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}

function webhook(of: ExampleOf): Example[] {
  const url = `${of.apiUrl}/v1/webhooks/${of.sourceId}`;
  const id = deliveryName(of);
  const record = json(exampleRecord(of), '');
  return [
    { name: 'curl', text: webhookCurl(url, id, record) },
    { name: 'Node', text: webhookNode(url, id, json(exampleRecord(of), '')) },
    { name: 'Python', text: webhookPython(url, id, record) },
  ];
}

function webhookCurl(url: string, id: string, record: string): string {
  return [
    `body=$(cat <<'${end}'\n${record}\n${end}\n)`,
    `id='${id}'`,
    't=$(date +%s)',
    `signature=$(printf '%s.%s.%s' "$t" "$id" "$body" |`,
    `  openssl dgst -sha256 -hmac "$${environment.secret}" | sed 's/^.*= *//')`,
    `curl -sS '${url}' \\`,
    `  -H "Service-Signature: t=$t,v1=$signature" \\`,
    `  -H "Service-Delivery-Id: $id" \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  --data-binary "$body"`,
  ].join('\n');
}

function webhookNode(url: string, id: string, record: string): string {
  return [
    `import { createHmac } from 'node:crypto';`,
    '',
    `const body = JSON.stringify(${record});`,
    `const id = '${id}';`,
    'const t = Math.floor(Date.now() / 1000);',
    `const signature = createHmac('sha256', process.env.${environment.secret})`,
    `  .update(\`\${t}.\${id}.\${body}\`)`,
    `  .digest('hex');`,
    `const response = await fetch('${url}', {`,
    `  method: 'POST',`,
    '  headers: {',
    `    'Service-Signature': \`t=\${t},v1=\${signature}\`,`,
    `    'Service-Delivery-Id': id,`,
    `    'Content-Type': 'application/json',`,
    '  },',
    '  body,',
    '});',
    'console.log(response.status, await response.text());',
  ].join('\n');
}

function webhookPython(url: string, id: string, record: string): string {
  return [
    'import hashlib, hmac, json, os, time, urllib.request',
    '',
    `body = json.dumps(${record}).encode()`,
    `id = "${id}"`,
    't = str(int(time.time()))',
    `secret = os.environ["${environment.secret}"].encode()`,
    'signed = f"{t}.{id}.".encode() + body',
    'signature = hmac.new(secret, signed, hashlib.sha256).hexdigest()',
    `request = urllib.request.Request("${url}", data=body, method="POST", headers={`,
    '    "Service-Signature": f"t={t},v1={signature}",',
    '    "Service-Delivery-Id": id,',
    '    "Content-Type": "application/json",',
    '})',
    'with urllib.request.urlopen(request) as response:',
    '    print(response.status, response.read().decode())',
  ].join('\n');
}
