import { Command, InvalidArgumentError } from 'commander';
import type { Delivered, Progress } from '../client/deliver.ts';
import { DeliveryFailed } from '../client/failure.ts';
import { render } from './output.ts';
import { ProgressLine } from './progress-line.ts';

/** One file on its way, and the name that its delivery is known by. */
export interface FileToSend {
  readonly file: string;
  send(tell: (progress: Progress) => void): Promise<Delivered & { readonly id: string }>;
}

/**
 * Sends files one after the other, for the rate is the source's, and prints their receipts. What
 * failed is named on stderr; the exit code is 0 only when every file has its receipt.
 *
 * @param idName what the receipts call the delivery's name
 */
export async function sendFiles(
  files: readonly FileToSend[],
  idName: 'idempotency_key' | 'delivery_id',
  json: boolean,
): Promise<void> {
  const receipts: object[] = [];
  for (const { file, send } of files) {
    const line = new ProgressLine(process.stderr, file);
    try {
      const { receipt, id, attempts, replayed, bodyDiffers } = await send((so) => line.show(so));
      line.end();
      receipts.push({ file, ...receipt, [idName]: id, attempts, replayed });
      if (bodyDiffers) say(file, bodyDiffersNote);
      else if (replayed) say(file, attempts === 1 ? replayedNote : retriedNote);
    } catch (error) {
      line.end();
      if (!(error instanceof DeliveryFailed)) throw error;
      say(file, failure(error));
      process.exitCode = 1;
    }
  }
  process.stdout.write(render(receipts, json));
}

const replayedNote =
  'this key or these bytes came before; the receipt is the first one and nothing was stored ' +
  'again. Old bytes sent again do not bring old values back: change a byte for that.';
const retriedNote =
  'an earlier attempt or an earlier delivery had stored this already; the receipt is the first ' +
  'one. Old bytes sent again do not bring old values back: change a byte for that.';
const bodyDiffersNote =
  'the key was used before for other bytes; the receipt is theirs, and these bytes were NOT ' +
  'stored. Send them under another key.';

function failure({ code, field, message }: DeliveryFailed): string {
  return `${code}${field === undefined ? '' : ` (${field})`}: ${message}`;
}

function say(file: string, text: string): void {
  // A service's message must not move the cursor of the terminal.
  process.stderr.write(`weir: ${file}: ${text.replaceAll(/\p{Cc}/gu, ' ')}\n`);
}

/** A command that sends: `--json` is added. It needs no settings, for it may run anywhere. */
export function sendingCommand(name: string): Command {
  return new Command(name).option('--json', 'print one JSON array of receipts and nothing else');
}

/** An option's value that must be an address. */
export function httpAddress(text: string): string {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text;
  throw new InvalidArgumentError('an address with http:// or https://');
}

/** An option's value that must look like `pattern`. */
export function matching(pattern: RegExp, form: string): (text: string) => string {
  return (text) => {
    if (pattern.test(text)) return text;
    throw new InvalidArgumentError(form);
  };
}
