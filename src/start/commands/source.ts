import { Command, Option } from 'commander';
import { v7 as uuid } from 'uuid';
import type { SavedSource, SourceSave } from '../../catalog/catalog.ts';
import type { DeliveryWay, DocumentFormat } from '../../domain/nouns.ts';
import { answering, group, id } from '../command.ts';
import { newSecret } from '../new-secret.ts';
import { untilParsed, withdrawalsOf } from '../reparsing.ts';
import { readShapeFile } from '../shape-file.ts';

const ways = ['push', 'document', 'webhook'];
const formats = ['csv', 'tsv', 'json', 'ndjson', 'xlsx', 'parquet'];
const savedBy = 'command line';

interface SaveOptions {
  readonly shape?: string;
  readonly delivery?: DeliveryWay;
  readonly format?: DocumentFormat;
  readonly name?: string;
}

interface CreateOptions extends SaveOptions {
  readonly company: string;
  readonly name: string;
  readonly delivery: DeliveryWay;
  readonly shape: string;
}

export function sourceCommands(): Command {
  const create = new Command('create')
    .description('create a source with its first shape version')
    .requiredOption('--company <id>', 'whose source it is', id)
    .requiredOption('--name <name>', 'what people call it')
    .addOption(wayOption().makeOptionMandatory())
    .requiredOption('--shape <file>', 'JSON file with the declared fields')
    .addOption(formatOption());
  const save = new Command('save')
    .description('save a source: the next shape version')
    .argument('<source>', 'the source id', id)
    .option('--shape <file>', 'JSON file with the declared fields')
    .addOption(wayOption())
    .addOption(formatOption())
    .option('--name <name>', 'what people call it');
  return group('source', 'sources and their shapes', [
    answering(create, async ({ settings, catalog }, options: CreateOptions) => {
      const fields = readShapeFile(options.shape);
      const made = options.delivery === 'webhook' ? newSecret(settings) : null;
      const source = await catalog.directory.createSource(
        {
          sourceId: uuid(),
          companyId: options.company,
          name: options.name,
          delivery: options.delivery,
          format: options.format ?? 'csv',
          fields,
          savedBy,
          ...(made ? { secret: made.secret } : {}),
        },
        Date.now(),
      );
      return sourceAnswer(source, made?.text);
    }),
    answering(save, async (place, sourceId: string, options: SaveOptions) => {
      const { settings, catalog } = place;
      // Taken only when the source becomes a webhook source by this save, and shown only then.
      const made = options.delivery === 'webhook' ? newSecret(settings) : null;
      const change: SourceSave = {
        savedBy,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.delivery === undefined ? {} : { delivery: options.delivery }),
        ...(options.format === undefined ? {} : { format: options.format }),
        ...(options.shape === undefined ? {} : { fields: readShapeFile(options.shape) }),
        ...(made ? { secret: made.secret } : {}),
      };
      const source = await catalog.directory.saveSource(sourceId, change, Date.now());
      if (source.withdrawn) {
        // At once (DECISIONS 1): no read shows the withdrawn samples once this has answered.
        const { generation } = source.withdrawn;
        await untilParsed(place, withdrawalsOf(catalog, sourceId, generation));
      }
      return sourceAnswer(source, made?.text);
    }),
  ]);
}

function wayOption(): Option {
  return new Option('--delivery <way>', 'how its deliveries come').choices(ways);
}

function formatOption(): Option {
  return new Option('--format <format>', 'of its documents, csv by default').choices(formats);
}

function sourceAnswer(source: SavedSource, secret: string | undefined) {
  return {
    source_id: source.sourceId,
    name: source.name,
    delivery: source.delivery,
    shape_version: source.shapeVersion,
    ...(source.secretTaken ? { signing_secret: secret } : {}),
    ...(source.withdrawn ? { withdrawn: source.withdrawn.deliveries } : {}),
  };
}
