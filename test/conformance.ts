import { readFileSync } from 'node:fs';
import { endpoints } from './conformance/endpoints.ts';
import { resources } from './conformance/resources.ts';
import type { Case, Section } from './conformance/rows.ts';
import { rules } from './conformance/rules.ts';

/** What of the specification is held by which tests: sentence by sentence, section by section. */
export const conformance: readonly Section[] = [...resources, ...endpoints, ...rules];

/** The headings of the specification, in its order, but for those that only hold others. */
export const headings: readonly string[] = [
  'What the service does',
  'Delivery (request body of POST /v1/ingest, JSON)',
  'Receipt (response of 202)',
  'Sample',
  'Samples (response of GET /v1/samples, 200)',
  'Window',
  'Error',
  'Access key',
  'Webhook source',
  'Delivery status',
  'Access key lifecycle',
  'Webhook signing secret',
  'POST /v1/ingest — push one delivery',
  "GET /v1/samples — read the source's samples over a window",
  'POST /v1/webhooks/{source_id} — deliver one webhook',
  'Access keys',
  'Interactive reference site and demo key',
  'Webhook signature',
  'Webhook delivery contract (for senders)',
  'Errors',
  'Limits',
  'Versioning',
];

/** Whether a test of this title stands in this file. */
export function caseExists({ file, title }: Case): boolean {
  const source = readFileSync(new URL(`${file}.ts`, import.meta.url), 'utf8');
  // In the source, quotes within a title may be escaped.
  const forms = ["'", '"', '`'].map(
    (quote) => quote + title.replaceAll(quote, `\\${quote}`) + quote,
  );
  return forms.some((form) => {
    const at = source.indexOf(form);
    return at >= 0 && /\(\s*$/.test(source.slice(0, at)) && source[at + form.length] === ',';
  });
}

/** CONFORMANCE.md, whole. */
export function conformancePage(): string {
  const rows = conformance.flatMap((section) => section.rows);
  const cases = new Set(
    rows.flatMap((row) => row.cases.map(({ file, title }) => `${file} ${title}`)),
  );
  const sections = conformance.map(({ heading, rows: own }) => {
    const lines = own.map(({ says, cases: named }) => {
      const tests = named
        .map(({ file, title }) => `\`${file}\` ${cell(plain(title))}`)
        .join('<br>');
      return `| ${cell(says)} | ${tests} |`;
    });
    return [
      `## ${heading}`,
      '',
      '| the specification says | held by |',
      '|---|---|',
      ...lines,
    ].join('\n');
  });
  return [
    '# Conformance',
    '',
    `All ${rows.length} sentences of the specification that a caller or a user can observe`,
    `are held by ${cases.size} tests, most of them with many cases. The suites of \`protocol/\``,
    'whose names end in `-cases` run on files and on MinIO. `npm run conformance` writes this',
    'page from `test/conformance.ts`; a test keeps both equal and every named test in place.',
    '',
    sections.join('\n\n'),
    '',
  ].join('\n');
}

/** A title whose cases fill it in. */
function plain(title: string): string {
  return title.replaceAll(/%(\d+\$)?[a-z]|\$\{[^}]*\}|\$[\w.]+/g, '…');
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|').replaceAll('<', '&lt;');
}
