import { createHash, randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { v7 as uuid } from 'uuid';
import { CatalogRefusal } from '../../catalog/catalog.ts';
import { formatKey, type KeyKind, keyRandomBytes } from '../../domain/keys.ts';
import { limits } from '../../domain/limits.ts';
import type { AccessKey, Scope } from '../../domain/nouns.ts';
import { answering, group, id } from '../command.ts';

const dayMs = 86_400_000;

interface CreateOptions {
  readonly scope: Scope;
  readonly sandbox?: boolean;
  readonly expiresDays: number;
}

export function keyCommands(): Command {
  const create = new Command('create')
    .description('create an access key; it is shown this once')
    .argument('<source>', 'the source it opens', id)
    .addOption(
      new Option('--scope <scope>', 'what it may do')
        .choices(['read', 'write', 'read_write'])
        .makeOptionMandatory(),
    )
    .option('--sandbox', 'everything it stores is marked test')
    .option('--expires-days <n>', 'its lifetime', days(1), limits.keyLifetimeDays);
  const rotate = rotateCommand();
  const revoke = new Command('revoke')
    .description('revoke a key; its next request is refused')
    .argument('<key>', 'the key id', id);
  const list = new Command('list')
    .description('list the keys of a source')
    .argument('<source>', 'the source id', id);
  return group('key', 'access keys', [
    answering(create, async ({ catalog }, sourceId: string, options: CreateOptions) => {
      const sandbox = options.sandbox ?? false;
      const { text, hash } = newKey(sandbox ? 'test' : 'live');
      const now = Date.now();
      const expiresAt = now + options.expiresDays * dayMs;
      const { scope } = options;
      const key = await catalog.directory.createKey(
        { keyId: uuid(), sourceId, hash, scope, sandbox, expiresAt },
        now,
      );
      return { access_key: text, ...keyAnswer(key) };
    }),
    answering(rotate, async ({ catalog }, keyId: string, options: { overlapDays: number }) => {
      const old = await catalog.directory.key(keyId);
      if (!old) throw new CatalogRefusal('key_not_found', 'There is no such key.');
      const { text, hash } = newKey(old.demo ? 'demo' : old.sandbox ? 'test' : 'live');
      const now = Date.now();
      const key = await catalog.directory.rotateKey(
        keyId,
        {
          keyId: uuid(),
          hash,
          expiresAt: now + limits.keyLifetimeDays * dayMs,
          overlapEndsAt: now + options.overlapDays * dayMs,
        },
        now,
      );
      return { access_key: text, ...keyAnswer(key) };
    }),
    answering(revoke, async ({ catalog }, keyId: string) =>
      keyAnswer(await catalog.directory.revokeKey(keyId, Date.now())),
    ),
    answering(list, async ({ catalog }, sourceId: string) =>
      (await catalog.directory.keys(sourceId)).map(keyAnswer),
    ),
  ]);
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('make the key that takes the place of another; it is shown this once')
    .argument('<key>', 'the key id', id)
    .requiredOption('--overlap-days <n>', 'how long the old key still works; 0: no more', days(0));
}

function newKey(kind: KeyKind): { text: string; hash: Buffer } {
  const text = formatKey(kind, randomBytes(keyRandomBytes));
  return { text, hash: createHash('sha256').update(text).digest() };
}

function days(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]{1,5}$/.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`a number of days, at least ${least}`);
  };
}

function keyAnswer(key: AccessKey) {
  return {
    key_id: key.keyId,
    source_id: key.sourceId,
    scope: key.scope,
    sandbox: key.sandbox,
    created_at: instant(key.createdAt),
    expires_at: instant(key.expiresAt),
    last_used_at: instant(key.lastUsedAt),
    revoked_at: instant(key.revokedAt),
  };
}

function instant(ms: number): string;
function instant(ms: number | null): string | null;
function instant(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
