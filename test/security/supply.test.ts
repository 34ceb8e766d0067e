import { readFile } from 'node:fs/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { judgeAudit } from '../support/audit-report.ts';
import { makeSbom, type Sbom } from '../support/sbom.ts';

/** What a weir is made of (SECURITY.md, "What weir is made of"). */

interface Locked {
  readonly name?: string;
  readonly version: string;
  readonly dev?: boolean;
  readonly integrity?: string;
}

const lockFile = new URL('../../package-lock.json', import.meta.url);
let locked: [path: string, Locked][];
let sbom: Sbom;
beforeAll(async () => {
  const lock = JSON.parse(await readFile(lockFile, 'utf8')) as { packages: Record<string, Locked> };
  locked = Object.entries(lock.packages).filter(([path, one]) => path !== '' && !one.dev);
  sbom = await makeSbom();
});

function purlOf([path, { name, version }]: [string, Locked]): string {
  const own = name ?? path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
  return `pkg:npm/${own.replace(/^@/, '%40')}@${version}`;
}

describe('the bill of materials', () => {
  test('is a CycloneDX document about weir', () => {
    expect(sbom).toMatchObject({ bomFormat: 'CycloneDX', specVersion: '1.5' });
    expect(sbom.serialNumber).toMatch(/^urn:uuid:[0-9a-f-]{36}$/);
    expect(sbom.metadata.component).toMatchObject({ name: 'weir', purl: 'pkg:npm/weir@0.1.0' });
  });

  test('names exactly the packages of the lock that are not for development', () => {
    const named = sbom.components.map(({ purl }) => purl).sort();
    expect(named).toEqual([...new Set(locked.map(purlOf))].sort());
    expect(named.length).toBeGreaterThan(50);
  });

  test('gives each the hash that the lock has', () => {
    const hashes = new Map(sbom.components.map(({ purl, hashes }) => [purl, hashes]));
    for (const one of locked) {
      const integrity = one[1].integrity;
      if (integrity === undefined) continue;
      const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');
      expect([one[0], hashes.get(purlOf(one))]).toEqual([one[0], [{ alg: 'SHA-512', content }]]);
    }
  });

  test('says of each what it depends on, and nothing hangs in the air', () => {
    const refs = sbom.components.map((one) => one['bom-ref']);
    const known = new Set([...refs, sbom.metadata.component['bom-ref']]);
    expect(new Set(sbom.dependencies.map(({ ref }) => ref))).toEqual(known);
    const used = new Set(sbom.dependencies.flatMap(({ dependsOn }) => dependsOn));
    expect(refs.filter((ref) => !used.has(ref))).toEqual([]);
  });
});

test('a package whose hash the lock lacks is of another platform', () => {
  const bare = locked.filter(([, { integrity }]) => integrity === undefined);
  const elsewhere = /(darwin|android|win32|freebsd|linux)/;
  expect(bare.map(([path]) => path).filter((path) => !elsewhere.test(path))).toEqual([]);
});

describe('the audit', () => {
  const of = (vulnerabilities: object) =>
    judgeAudit(JSON.stringify({ auditReportVersion: 2, vulnerabilities }));

  test('fails on a high advisory, not on a low one', () => {
    expect(of({})).toEqual({ kind: 'clean' });
    expect(of({ a: { severity: 'low' }, b: { severity: 'moderate' } })).toEqual({ kind: 'clean' });
    expect(of({ a: { severity: 'low' }, b: { severity: 'high' } })).toEqual({
      kind: 'vulnerable',
      packages: ['b (high)'],
    });
  });

  test('says when the registry does not answer', () => {
    const refused = '{"message": "405 Method Not Allowed", "statusCode": 405}';
    expect(judgeAudit(refused)).toEqual({ kind: 'unknown', reason: '405 Method Not Allowed' });
    expect(judgeAudit('')).toEqual({ kind: 'unknown', reason: 'npm audit gave no report' });
  });
});
