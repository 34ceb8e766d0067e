import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const checkout = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);

export interface SbomComponent {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes?: readonly { readonly alg: string; readonly content: string }[];
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/** The parts of a CycloneDX 1.5 document that are looked at here. */
export interface Sbom {
  readonly bomFormat: string;
  readonly specVersion: string;
  readonly serialNumber: string;
  readonly metadata: { readonly component: SbomComponent };
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

/**
 * What a weir is made of, on every platform, as the lock has it: a CycloneDX document.
 *
 * `npm sbom --omit dev` leaves out every package that something for development uses too (it left
 * out pino and 18 others); so npm is asked for all, and what it marks as for development goes.
 */
export async function makeSbom(): Promise<Sbom> {
  const args = ['sbom', '--sbom-format', 'cyclonedx', '--package-lock-only'];
  const { stdout } = await run('npm', args, { cwd: checkout, maxBuffer: 64 * 1024 * 1024 });
  const all = JSON.parse(stdout) as Sbom;
  const components = all.components.filter((one) => !isForDevelopment(one));
  const own = JSON.parse(await readFile(`${checkout}/package.json`, 'utf8')) as { name: string };
  const root = { ...all.metadata.component, name: own.name };
  const kept = new Set([root['bom-ref'], ...components.map((one) => one['bom-ref'])]);
  const dependencies = all.dependencies
    .filter(({ ref }) => kept.has(ref))
    .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((to) => kept.has(to)) }));
  return { ...all, metadata: { ...all.metadata, component: root }, components, dependencies };
}

function isForDevelopment({ properties = [] }: SbomComponent): boolean {
  return properties.some(
    ({ name, value }) => name === 'cdx:npm:package:development' && value === 'true',
  );
}
