import { createHash, createHmac, randomBytes, randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Catalog } from '../../src/catalog/catalog.ts';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { formatKey, keyRandomBytes } from '../../src/domain/keys.ts';
import { formatSecret } from '../../src/domain/secrets.ts';
import { signatureCheck } from '../../src/domain/signature.ts';
import { callerOf } from '../../src/http/caller.ts';
import type { RequestHead } from '../../src/http/head.ts';
import { dayAndAmount } from '../support/test-weir.ts';
import { type Classes, welchT } from './dudect.ts';

/**
 * Time tells nothing of a key or a signature (specification, "Access keys"; DECISIONS 6).
 *
 * The bar: |t| < 10 in one of three rounds. A leak shows in each round, a disturbed machine does
 * not: so what holds in one round holds, and the planted leak must show in all three.
 */
const tMax = 10;
const rounds = 3;
const measurements = 50_000;

async function roundsOf<Input>(classes: Classes<Input>, prepare: (input: Input) => () => unknown) {
  const found: number[] = [];
  for (let i = 0; i < rounds; i++) {
    found.push(await welchT(classes, prepare, measurements));
    if (found.at(-1)! < tMax) break;
  }
  return { smallest: Math.min(...found), told: found.map((t) => t.toFixed(1)).join(', ') };
}

/** The planted leak: it stops at the first difference. */
function equalsEarly(one: string, other: string): boolean {
  if (one.length !== other.length) return false;
  for (let i = 0; i < one.length; i++) if (one.charCodeAt(i) !== other.charCodeAt(i)) return false;
  return true;
}

describe('a signature check', () => {
  const secret = formatSecret(randomBytes(32));
  const body = Buffer.from('{"day":"2026-03-01","amount":"1"}');
  const right = createHmac('sha256', secret).update('7.id.').update(body).digest();
  const change = (at: number) => {
    const changed = Buffer.from(right);
    changed[at] = changed[at]! ^ 1;
    return changed;
  };
  const many = (make: () => Buffer) => Array.from({ length: 64 }, make);
  const classes = {
    'the first byte wrong': many(() => change(0)),
    'the last byte wrong': many(() => change(31)),
    'all bytes right': many(() => Buffer.from(right)),
  };
  const pairs = [
    ['the first byte wrong', 'the last byte wrong'],
    ['the first byte wrong', 'all bytes right'],
    ['the last byte wrong', 'all bytes right'],
  ] as const;

  test.each(pairs)('takes the same time with %s and with %s', async (one, other) => {
    const prepare = (signature: Buffer) => {
      const check = signatureCheck(secret, '7', 'id');
      check.update(body);
      return () => check.matches([signature]);
    };
    const { smallest, told } = await roundsOf(
      { one: classes[one], other: classes[other] },
      prepare,
    );
    console.log(`signature, ${one} against ${other}: |t| = ${told}`);
    expect(smallest).toBeLessThan(tMax);
  });

  test('that stopped at the first difference would be found', async () => {
    const prepare = (signature: Buffer) => {
      const hmac = createHmac('sha256', secret).update('7.id.').update(body);
      const text = signature.toString('hex');
      return () => equalsEarly(hmac.digest('hex'), text);
    };
    const [one, other] = [classes['the first byte wrong'], classes['the last byte wrong']];
    const { smallest, told } = await roundsOf({ one, other }, prepare);
    console.log(`signature, early exit: |t| = ${told}`);
    expect(smallest).toBeGreaterThan(tMax);
  });
});

/**
 * Whether a key exists is what the answer says, so existing keys are no class. What must not show
 * is how near a guess comes to one.
 */
describe('a key lookup', () => {
  const keys = Array.from({ length: 64 }, () => formatKey('live', randomBytes(keyRandomBytes)));
  let directory: string;
  let catalog: Catalog;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'weir-timing-'));
    catalog = await openCatalog(sqliteUrl(join(directory, 'catalog.db')), { thread: false });
    const [companyId, sourceId, now] = [randomUUID(), randomUUID(), Date.now()];
    const company = { companyId, name: 'timing', timezone: 'UTC' };
    await catalog.directory.createCompany(company, now);
    const metric = { key: 'amount', name: 'amount', unit: 'one', labels: [] };
    await catalog.directory.declareMetric(companyId, metric, now);
    const shape = { delivery: 'push', format: 'csv', fields: dayAndAmount } as const;
    const source = { sourceId, companyId, name: 'timing', savedBy: 'test', ...shape };
    await catalog.directory.createSource(source, now);
    for (const key of keys) {
      const hash = createHash('sha256').update(key).digest();
      const about = { scope: 'write', sandbox: false, expiresAt: now + 86_400_000 } as const;
      await catalog.directory.createKey({ keyId: randomUUID(), sourceId, hash, ...about }, now);
    }
  });
  afterAll(async () => {
    await catalog?.close();
    await rm(directory, { recursive: true, force: true });
  });

  /** Texts put together lie in memory otherwise than read ones do. */
  const asRead = (texts: string[]) => texts.map((text) => Buffer.from(text).toString('latin1'));
  const otherLetter = (letter: string) => (letter === 'A' ? 'B' : 'A');
  const near = {
    'the first letter wrong': asRead(
      keys.map((key) => `wk_live_${otherLetter(key[8]!)}${key.slice(9)}`),
    ),
    'the last letter wrong': asRead(keys.map((key) => key.slice(0, -1) + otherLetter(key.at(-1)!))),
    'all letters wrong': asRead(keys.map(() => formatKey('live', randomBytes(keyRandomBytes)))),
  };
  const pairs = [
    ['the first letter wrong', 'the last letter wrong'],
    ['the last letter wrong', 'all letters wrong'],
  ] as const;

  test.each(pairs)('takes the same time with %s and with %s', async (one, other) => {
    const prepare = (key: string) => {
      const head = { header: () => `Bearer ${key}` } as unknown as RequestHead;
      const parts = { lookup: catalog.lookup, demo: false };
      return () => callerOf(head, parts, 0).catch(() => null);
    };
    const { smallest, told } = await roundsOf({ one: near[one], other: near[other] }, prepare);
    console.log(`key, ${one} against ${other}: |t| = ${told}`);
    expect(smallest).toBeLessThan(tMax);
  });

  test('that compared texts and stopped at the first difference would be found', async () => {
    const [stored] = keys;
    const guesses = (guess: string) => Array.from({ length: 64 }, () => guess);
    const one = guesses(near['the first letter wrong'][0]!);
    const other = guesses(near['the last letter wrong'][0]!);
    const prepare = (key: string) => () => equalsEarly(stored!, key);
    const { smallest, told } = await roundsOf({ one, other }, prepare);
    console.log(`key, early exit: |t| = ${told}`);
    expect(smallest).toBeGreaterThan(tMax);
  });
});
