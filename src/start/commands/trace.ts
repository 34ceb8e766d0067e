import { Command } from 'commander';
import { dayToText } from '../../domain/periods.ts';
import type { LocateTask } from '../../parse/messages.ts';
import type { Trace } from '../../proof/trace.ts';
import { answering, id, type Place, WrongUsage } from '../command.ts';

interface Options {
  readonly source: string;
  readonly metric: string;
  readonly period: string;
  readonly label: readonly string[];
  readonly sandbox?: true;
}

/** `weir trace`: the chain from a sample back to the record that gave it. */
export function traceCommand(): Command {
  const command = new Command('trace')
    .description('lead a sample back to the record that gave it')
    .requiredOption('--source <id>', 'the source id', id)
    .requiredOption('--metric <key>', 'the metric key')
    .requiredOption('--period <day>', 'the first day of its period, or 2026-01, 2026-Q1, 2026')
    .option('--label <name=text>', 'a label of it; may stand several times', gathered, [])
    .option('--sandbox', 'a sandbox sample');
  return answering(command, (place, options: Options) => traced(place, options));
}

function gathered(text: string, before: readonly string[]): string[] {
  if (!text.includes('=')) throw new WrongUsage('a label is written name=text');
  return [...before, text];
}

async function traced({ settings, catalog }: Place, options: Options) {
  const [{ trace }, { openArtifacts }, { openProof }, stores, { pino }, { locateStored }] =
    await Promise.all([
      import('../../proof/trace.ts'),
      import('../../artifacts/open.ts'),
      import('../../samples/open-proof.ts'),
      import('../stores.ts'),
      import('pino'),
      import('../../../workers/locate-stored.ts'),
    ]);
  const samples = await stores.openCommandSamples(settings, pino({ level: 'silent' }));
  const { history, close } = openProof(samples.address);
  const artifacts = openArtifacts(settings.artifactsUrl);
  try {
    const labels = Object.fromEntries(
      options.label.map((text) => {
        const at = text.indexOf('=');
        return [text.slice(0, at), text.slice(at + 1)];
      }),
    );
    const { source: sourceId, metric, period, sandbox = false } = options;
    const query = { sourceId, metric, period, labels, sandbox };
    const locate = (task: LocateTask) => locateStored(artifacts, task);
    return view(await trace({ catalog, history, locate }, query));
  } finally {
    await artifacts.close();
    await close();
    await samples.close();
  }
}

function view({ sample, basis, idempotencyKeys, record, superseded }: Trace) {
  const { delivery, parserVersion } = basis;
  return {
    source_id: sample.sourceId,
    sample: {
      metric: sample.metric,
      period_start: dayToText(sample.day),
      value: sample.value,
      labels: JSON.parse(sample.labelsJson) as Record<string, string>,
      sandbox: sample.sandbox,
      artifact_id: sample.artifactId,
    },
    delivery: {
      artifact_id: delivery.artifactId,
      sha256: delivery.sha256,
      bytes: delivery.bytes,
      media_type: delivery.mediaType,
      encoding: delivery.encoding,
      received_at: new Date(delivery.receivedAt).toISOString(),
      idempotency_keys: idempotencyKeys,
      shape_version: delivery.shapeVersion,
      generation: delivery.generation,
      parser_version: parserVersion,
      status: delivery.status,
    },
    record: sample.record,
    line: record.line,
    byte_range: record.bytes,
    fields: record.fields,
    superseded: superseded.map(({ version, delivery: before }) => ({
      artifact_id: version.artifactId,
      received_at: new Date(before.receivedAt).toISOString(),
      record: version.record,
      value: version.value,
    })),
  };
}
