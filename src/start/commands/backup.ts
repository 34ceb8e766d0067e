import { resolve } from 'node:path';
import { Command } from 'commander';
import { backupCatalog } from '../../catalog/open.ts';
import { answering } from '../command.ts';

export function backupCommand(): Command {
  const command = new Command('backup')
    .description('copy the catalog to a file, consistent and durable, while the service runs')
    .argument('<file>', 'where to; a file that is there is replaced');
  return answering(command, async ({ settings }, file: string) => {
    const copy = await backupCatalog(settings.catalogUrl, resolve(file));
    return {
      file: resolve(file),
      bytes: copy.bytes,
      catalog_id: copy.standing.catalogId,
      sequence: copy.standing.sequence,
      newest_received_at:
        copy.standing.receivedAt === null ? null : new Date(copy.standing.receivedAt).toISOString(),
    };
  });
}
