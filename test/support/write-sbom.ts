/** `npm run sbom`: writes the bill of materials to the standard output. */
import { makeSbom } from './sbom.ts';

console.log(JSON.stringify(await makeSbom(), null, 2));
