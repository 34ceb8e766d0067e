import { createHash, randomBytes } from 'node:crypto';
import { Command, InvalidArgumentError, Option } from 'commander';
import { v7 as uuid } from 'uuid';
import { formatKey, keyRandomBytes } from '../../domain/keys.ts';
import { limits } from '../../domain/limits.ts';
import type { AccessKey, Scope } from '../../domain/nouns.ts';
import { answering, group, withCatalog } from '../command.ts';

const dayMs = 86_400_000;

interface CreateOptions {
  readonly scope: Scope;
  readonly sandbox?: boolean;
  readonly expiresDays: number;
}

export function keyCommands(): Command {
  const create = new Command('create')
    .description('create an access key; it is shown this once')
    .argument('<source>', 'the source it opens')
    .addOption(
      new Option('--scope <scope>', 'what it may do')
        .choices(['read', 'write', 'read_write'])
        .makeOptionMandatory(),
    )
    .option('--sandbox', 'everything it stores is marked test')
    .option('--expires-days <n>', 'its lifetime', days, limits.keyLifetimeDays);
  const revoke = new Command('revoke')
    .description('revoke a key; its next request is refused')
    .argument('<key>', 'the key id');
  const list = new Command('list')
    .description('list the keys of a source')
    .argument('<source>', 'the source id');
  return group('key', 'access keys', [
    answering(create, async (settings, sourceId: string, options: CreateOptions) => {
      const sandbox = options.sandbox ?? false;
      const text = formatKey(sandbox ? 'test' : 'live', randomBytes(keyRandomBytes));
      const now = Date.now();
      const key = await withCatalog(settings, (catalog) =>
        catalog.directory.createKey(
          {
            keyId: uuid(),
            sourceId,
            hash: createHash('sha256').update(text).digest(),
            scope: options.scope,
            sandbox,
            expiresAt: now + options.expiresDays * dayMs,
          },
          now,
        ),
      );
      return { access_key: text, ...keyAnswer(key) };
    }),
    answering(revoke, async (settings, keyId: string) => {
      const key = await withCatalog(settings, (catalog) =>
        catalog.directory.revokeKey(keyId, Date.now()),
      );
      return keyAnswer(key);
    }),
    answering(list, async (settings, sourceId: string) => {
      const keys = await withCatalog(settings, (catalog) => catalog.directory.keys(sourceId));
      return keys.map(keyAnswer);
    }),
  ]);
}

function days(text: string): number {
  const value = Number(text);
  if (!/^[0-9]{1,5}$/.test(text) || value < 1) {
    throw new InvalidArgumentError('a number of days, at least 1');
  }
  return value;
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
