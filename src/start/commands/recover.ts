import { Command } from 'commander';
import type { Recovery } from '../../upkeep/recover.ts';
import { answering } from '../command.ts';

/** Such as a parse again that the backup does not know of. */
const next =
  'the samples may still show what this catalog does not know any more: ' +
  'run `weir rebuild` when the backlog is parsed';

export function recoverCommand(): Command {
  const command = new Command('recover').description(
    'bring a catalog that was restored from a backup up to its artifact store',
  );
  return answering(command, async ({ settings, catalog }) => {
    const [{ openArtifacts }, { recover }] = await Promise.all([
      import('../../artifacts/open.ts'),
      import('../../upkeep/recover.ts'),
    ]);
    const artifacts = openArtifacts(settings.artifactsUrl);
    try {
      await artifacts.prepare();
      const recovery = await recover({ artifacts, catalog, told });
      if (process.stderr.isTTY) process.stderr.write('\r\x1b[2K');
      if (recovery.behind) process.stderr.write(`weir: ${next}\n`);
      return answerOf(recovery);
    } finally {
      await artifacts.close();
    }
  });
}

function told(done: number, of: number): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[2Krecover  ${done} of ${of} deliveries`);
}

function answerOf({ behind, objects }: Recovery) {
  const count = (outcome: string) => objects.filter((one) => one.outcome === outcome).length;
  return {
    behind,
    recovered: count('recovered'),
    duplicates: count('duplicate'),
    failed: count('failed'),
    objects: objects.map((one) => ({
      object: one.object,
      artifact_id: one.artifactId,
      source_id: one.sourceId,
      received_at: new Date(one.receivedAt).toISOString(),
      outcome: one.outcome,
      reason: one.reason,
    })),
  };
}
