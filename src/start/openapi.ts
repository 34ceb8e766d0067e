import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { openapiJson } from '../serve/openapi.ts';
import { readSettings } from './settings.ts';

/** `npm run openapi`: writes the document as a service on the default settings serves it. */
const path = fileURLToPath(new URL('../../openapi.json', import.meta.url));
writeFileSync(path, openapiJson(readSettings({}).baseUrl));
