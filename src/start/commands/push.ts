import { type Command, InvalidArgumentError } from 'commander';
import type { Progress } from '../../client/deliver.ts';
import { DeliveryFailed } from '../../client/failure.ts';
import { isAboutContentType, pushFile } from '../../client/push-file.ts';
import { WrongUsage } from '../command.ts';
import { httpAddress, matching, sendFiles, sendingCommand } from '../sending.ts';

interface PushOptions {
  readonly url: string;
  readonly key: string;
  readonly idempotencyKey?: string;
  readonly shapeVersion?: number;
  readonly json?: boolean;
}

const help = `
What a file is:
  a JSON object with idempotency_key and payload    a push, sent as it is
  any other JSON object of texts, --shape-version   the payload of a push: it is wrapped into one
    given                                           (a document, where the source takes documents)
  everything else                                   a document; .gz and .zst with their encoding

Sent again until there is a receipt: after 429 when its Retry-After is over; after 5xx, timeouts and
dropped connections after 30 s, doubling up to an hour, with jitter, for 3 days. Files go one after
the other. The same bytes give the same receipt for ever: old bytes sent again do not bring old
values back, change a byte for that.

Exit code: 0 every file has its receipt, 1 not every file has, 2 wrong usage.`;

export function pushCommand(): Command {
  return sendingCommand('push')
    .description('push files to a source with an access key')
    .argument('<files...>', 'each file is one delivery of at most 8 MiB')
    .requiredOption('--url <base>', 'base address of the service', httpAddress)
    .requiredOption(
      '--key <key>',
      'access key that may push',
      matching(/^[\x21-\x7e]+$/, 'an access key, as it was shown'),
    )
    .option(
      '--idempotency-key <key>',
      "for one file; the file's sha256 by default",
      matching(/^[\x21-\x7e]{1,200}$/, '1 to 200 of visible ASCII'),
    )
    .option('--shape-version <n>', 'of the source; its current one by default', shapeVersion)
    .addHelpText('after', help)
    .action(async (files: string[], options: PushOptions) => {
      if (options.idempotencyKey !== undefined && files.length > 1) {
        throw new WrongUsage('--idempotency-key names one delivery: give one file with it');
      }
      await sendFiles(
        files.map((file) => ({ file, send: (tell) => pushOne(file, options, tell) })),
        'idempotency_key',
        options.json ?? false,
      );
    });
}

async function pushOne(file: string, options: PushOptions, tell: (progress: Progress) => void) {
  const to = { baseUrl: options.url, accessKey: options.key };
  try {
    const pushed = await pushFile(to, file, options, { tell });
    return { ...pushed, id: pushed.idempotencyKey };
  } catch (error) {
    if (!isAboutContentType(error)) throw error;
    const { code, field, status, attempts } = error;
    const message = `${error.message} See "What a file is" in weir push --help.`;
    throw new DeliveryFailed(code, message, { field, status, attempts, cause: error });
  }
}

function shapeVersion(text: string): number {
  if (!/^[1-9][0-9]{0,8}$/.test(text)) throw new InvalidArgumentError('an integer, at least 1');
  return Number(text);
}
