/** `npm run conformance`: writes CONFORMANCE.md. */
import { writeFileSync } from 'node:fs';
import { conformancePage } from '../conformance.ts';

writeFileSync(new URL('../../CONFORMANCE.md', import.meta.url), conformancePage());
