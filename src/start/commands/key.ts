import { Command, InvalidArgumentError, Option } from 'commander';
import { CatalogRefusal } from '../../catalog/catalog.ts';
import { keyView } from '../../domain/key-view.ts';
import { limits } from '../../domain/limits.ts';
import type { Scope } from '../../domain/nouns.ts';
import { answering, group, id } from '../command.ts';
import { newKey } from '../new-key.ts';

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
      const { text, keyId, hash } = newKey({ sandbox });
      const now = Date.now();
      const expiresAt = now + options.expiresDays * dayMs;
      const { scope } = options;
      const key = await catalog.directory.createKey(
        { keyId, sourceId, hash, scope, sandbox, expiresAt },
        now,
      );
      return { access_key: text, ...keyView(key) };
    }),
    answering(rotate, async ({ catalog }, keyId: string, options: { overlapDays: number }) => {
      const old = await catalog.directory.key(keyId);
      if (!old) throw new CatalogRefusal('key_not_found', 'There is no such key.');
      const next = newKey(old);
      const now = Date.now();
      const key = await catalog.directory.rotateKey(
        keyId,
        {
          keyId: next.keyId,
          hash: next.hash,
          expiresAt: now + limits.keyLifetimeDays * dayMs,
          overlapEndsAt: now + options.overlapDays * dayMs,
        },
        now,
      );
      return { access_key: next.text, ...keyView(key) };
    }),
    answering(revoke, async ({ catalog }, keyId: string) =>
      keyView(await catalog.directory.revokeKey(keyId, Date.now())),
    ),
    answering(list, async ({ catalog }, sourceId: string) =>
      (await catalog.directory.keys(sourceId)).map(keyView),
    ),
  ]);
}

function rotateCommand(): Command {
  return new Command('rotate')
    .description('make the key that takes the place of another; it is shown this once')
    .argument('<key>', 'the key id', id)
    .requiredOption('--overlap-days <n>', 'how long the old key still works; 0: no more', days(0));
}

function days(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^[0-9]{1,5}$/.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`a number of days, at least ${least}`);
  };
}
