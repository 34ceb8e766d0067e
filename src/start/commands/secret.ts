import { Command } from 'commander';
import { limits } from '../../domain/limits.ts';
import { answering, group, id } from '../command.ts';
import { newSecret } from '../new-secret.ts';

const hourMs = 3_600_000;

export function secretCommands(): Command {
  const rotate = new Command('rotate')
    .description(
      `make a webhook source's next signing secret; it is shown this once, and the one before ` +
        `works for ${limits.oldSecretHours} more hours`,
    )
    .argument('<source>', 'the source id', id);
  return group('secret', 'signing secrets of webhook sources', [
    answering(rotate, async ({ settings, catalog }, sourceId: string) => {
      const { text, secret } = newSecret(settings);
      const now = Date.now();
      const oldEndsAt = now + limits.oldSecretHours * hourMs;
      await catalog.directory.rotateSecret(sourceId, secret, oldEndsAt, now);
      return { source_id: sourceId, signing_secret: text };
    }),
  ]);
}
