import { readFileSync, writeFileSync } from 'node:fs';
import { errorsMarkdown } from '../serve/openapi/info.ts';
import { openapiJson } from '../serve/openapi.ts';
import { readSettings } from './settings.ts';

/**
 * `npm run openapi`: writes the document as a service on the default settings serves it, and the
 * table of errors into the README, between its two marks.
 */
const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);

writeFileSync(fromRoot('openapi.json'), openapiJson(readSettings({}).baseUrl));

const readme = readFileSync(fromRoot('README.md'), 'utf8');
const marked = /(<!-- errors -->\n)[\s\S]*?(\n<!-- \/errors -->)/;
if (!marked.test(readme)) throw new Error('the README has lost the marks of its table of errors');
const table = errorsMarkdown();
writeFileSync(
  fromRoot('README.md'),
  readme.replace(marked, (_, begin, end) => begin + table + end),
);
