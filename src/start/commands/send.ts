import type { Command } from 'commander';
import { fileBody } from '../../client/body.ts';
import type { Progress } from '../../client/deliver.ts';
import { sendWebhook } from '../../client/sender.ts';
import { httpAddress, matching, sendFiles, sendingCommand } from '../sending.ts';

interface SendOptions {
  readonly url: string;
  readonly secret: string;
  readonly deliveryId?: string;
  readonly json?: boolean;
}

const help = `
A file named .csv is sent as text/csv, any other as application/json.

Each attempt is signed anew under the same delivery id. Sent again until there is a receipt: after
429 when its Retry-After is over; after 5xx, timeouts and dropped connections after 30 s, doubling
up to an hour, with jitter, for 3 days.

Exit code: 0 the file has its receipt, 1 it has none, 2 wrong usage.`;

export function sendCommand(): Command {
  return sendingCommand('send')
    .description('send a file to a webhook source, signed')
    .argument('<file>', 'one delivery of at most 8 MiB')
    .requiredOption('--url <address>', "the source's whole address", httpAddress)
    .requiredOption(
      '--secret <secret>',
      'signing secret, exactly as it was shown',
      matching(/./, 'a signing secret, as it was shown'),
    )
    .option(
      '--delivery-id <id>',
      "the file's sha256 by default",
      matching(/^[A-Za-z0-9_:-]{1,200}$/, '1 to 200 letters, digits, dash, underscore or colon'),
    )
    .addHelpText('after', help)
    .action(async (file: string, options: SendOptions) => {
      await sendFiles(
        [{ file, send: (tell) => sendOne(file, options, tell) }],
        'delivery_id',
        options.json ?? false,
      );
    });
}

async function sendOne(path: string, options: SendOptions, tell: (progress: Progress) => void) {
  const to = { url: options.url, signingSecret: options.secret };
  const body = await fileBody(path);
  const id = options.deliveryId ?? body.sha256;
  const mediaType = /\.csv$/i.test(path) ? 'text/csv' : 'application/json';
  const sent = await sendWebhook(to, { deliveryId: id, mediaType, body }, { tell });
  return { ...sent, id };
}
