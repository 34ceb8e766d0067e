import { Command } from 'commander';
import { limits } from '../../domain/limits.ts';
import { answering, group, id, WrongUsage } from '../command.ts';

interface DeclareOptions {
  readonly company: string;
  readonly key: string;
  readonly name: string;
  readonly unit: string;
  readonly labels?: string;
}

export function metricCommands(): Command {
  const declare = new Command('declare')
    .description('declare a metric, or rename one; key and labels never change')
    .requiredOption('--company <id>', 'whose metric it is', id)
    .requiredOption('--key <key>', 'lower case letters, digits and _, a letter first')
    .requiredOption('--name <name>', 'what people call it')
    .requiredOption('--unit <unit>', 'such as EUR or people')
    .option('--labels <names>', 'the labels its samples carry, by comma');
  return group('metric', 'metrics', [
    answering(declare, async ({ catalog }, options: DeclareOptions) => {
      const { company, key, name, unit } = options;
      if (!/^[a-z][a-z0-9_]*$/.test(key) || key.length > limits.metricKeyCharsMax) {
        throw new WrongUsage('--key: a lower case letter, then letters, digits and _, at most 63');
      }
      const labels = readLabels(options.labels);
      const metric = { key, name, unit, labels };
      await catalog.directory.declareMetric(company, metric, Date.now());
      return metric;
    }),
  ]);
}

function readLabels(text: string | undefined): string[] {
  if (!text) return [];
  const labels = text.split(',');
  if (labels.some((label) => label === '') || new Set(labels).size < labels.length) {
    throw new WrongUsage('--labels: names by comma, each once');
  }
  return labels.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
