import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parse } from 'yaml';

/** The folder of all that deployments are made of. */
export const deployDir = fileURLToPath(new URL('../../deploy', import.meta.url));

export const deployFile = (path: string) => readFileSync(join(deployDir, path), 'utf8');

export const deployYaml = (path: string) => parse(deployFile(path), { merge: true });

/** The ports of the image: API, app and operators. */
export const ports = { api: 8080, app: 8081, ops: 8082 };

/** Seconds that a stop may take: so long a process waits for those that it has started. */
export const stopSeconds = 30;
