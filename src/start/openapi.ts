import { readFileSync, writeFileSync } from 'node:fs';
import { appOpenapiJson } from '../app/openapi.ts';
import { errorsMarkdown } from '../serve/openapi/info.ts';
import { openapiJson } from '../serve/openapi.ts';
import { readSettings } from './settings.ts';

/**
 * `npm run openapi`: writes the documents of the API and of the app as a service on the default
 * settings serves them, and the table of errors into the README, between its two marks.
 */
const fromRoot = (path: string) => new URL(`../../${path}`, import.meta.url);

const { baseUrl, appUrl } = readSettings({});
writeFileSync(fromRoot('openapi.json'), openapiJson(baseUrl));
writeFileSync(fromRoot('app-openapi.json'), appOpenapiJson(appUrl));

const readme = readFileSync(fromRoot('README.md'), 'utf8');
const marked = /(<!-- errors -->\n)[\s\S]*?(\n<!-- \/errors -->)/;
if (!marked.test(readme)) throw new Error('the README has lost the marks of its table of errors');
const table = errorsMarkdown();
writeFileSync(
  fromRoot('README.md'),
  readme.replace(marked, (_, begin, end) => begin + table + end),
);
