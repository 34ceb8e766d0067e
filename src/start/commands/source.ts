import { Command, Option } from 'commander';
import { v7 as uuid } from 'uuid';
import type { SourceSave } from '../../catalog/catalog.ts';
import type { DeliveryWay, DocumentFormat, Source } from '../../domain/nouns.ts';
import { answering, group, withCatalog } from '../command.ts';
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
    .requiredOption('--company <id>', 'whose source it is')
    .requiredOption('--name <name>', 'what people call it')
    .addOption(wayOption().makeOptionMandatory())
    .requiredOption('--shape <file>', 'JSON file with the declared fields')
    .addOption(formatOption());
  const save = new Command('save')
    .description('save a source: the next shape version')
    .argument('<source>', 'the source id')
    .option('--shape <file>', 'JSON file with the declared fields')
    .addOption(wayOption())
    .addOption(formatOption())
    .option('--name <name>', 'what people call it');
  return group('source', 'sources and their shapes', [
    answering(create, async (settings, options: CreateOptions) => {
      const fields = readShapeFile(options.shape);
      const source = await withCatalog(settings, (catalog) =>
        catalog.directory.createSource(
          {
            sourceId: uuid(),
            companyId: options.company,
            name: options.name,
            delivery: options.delivery,
            format: options.format ?? 'csv',
            fields,
            savedBy,
          },
          Date.now(),
        ),
      );
      return sourceAnswer(source);
    }),
    answering(save, async (settings, sourceId: string, options: SaveOptions) => {
      const change: SourceSave = {
        savedBy,
        ...(options.name === undefined ? {} : { name: options.name }),
        ...(options.delivery === undefined ? {} : { delivery: options.delivery }),
        ...(options.format === undefined ? {} : { format: options.format }),
        ...(options.shape === undefined ? {} : { fields: readShapeFile(options.shape) }),
      };
      const source = await withCatalog(settings, (catalog) =>
        catalog.directory.saveSource(sourceId, change, Date.now()),
      );
      return sourceAnswer(source);
    }),
  ]);
}

function wayOption(): Option {
  return new Option('--delivery <way>', 'how its deliveries come').choices(ways);
}

function formatOption(): Option {
  return new Option('--format <format>', 'of its documents, csv by default').choices(formats);
}

function sourceAnswer(source: Source) {
  return {
    source_id: source.sourceId,
    name: source.name,
    delivery: source.delivery,
    shape_version: source.shapeVersion,
  };
}
