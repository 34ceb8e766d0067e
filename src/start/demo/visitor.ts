import { SourceClient } from './client.ts';
import { cells } from './data-files.ts';
import type { RunningWeir } from './running-weir.ts';
import type { DemoCompany } from './set-up.ts';

/** What somebody needs who looks around in the running demo. */
export interface Visitor {
  /** Makes a passkey; works once. */
  readonly invitation: string;
  /** For what is sent from the API reference. */
  readonly sandboxKey: string;
}

const monthsTried = 12;

/**
 * Invites a visitor, and sends with a sandbox key what a sender sends by mistake: a year of the
 * employment series in which one month is none, and the same key with other bytes. So there is a
 * rejected record and a conflict to look at, and no number of a series is touched.
 */
export async function inviteVisitor(
  weir: RunningWeir,
  { companyId, accesses: [employment] }: DemoCompany,
): Promise<Visitor> {
  const [invited, key] = await Promise.all([
    weir.cli<{ url: string }>(
      ...['user', 'invite', '--company', companyId, '--email', 'visitor@demo.example'],
      ...['--permissions', 'sources.manage'],
    ),
    weir.cli<{ access_key: string }>(
      ...['key', 'create', employment!.sourceId, '--scope', 'read_write', '--sandbox'],
    ),
  ]);
  const sandboxKey = key.access_key;
  const client = new SourceClient({ ...employment!, accessKey: sandboxKey });
  const body = Buffer.from(mistaken());
  const tried = { key: 'tried-out', body, corrects: false };
  await client.settled(await client.send(tried));
  // The same key with other bytes gets the first receipt, and is shown as a conflict.
  await client.send({ ...tried, body: Buffer.concat([body, Buffer.from('\n')]) });
  await weir.cli('verify');
  return { invitation: invited.url, sandboxKey };
}

/** The last year of the file; its second month has a month's number that no year has. */
function mistaken(): string {
  const [header, ...rows] = cells('us-employment.csv');
  const year = rows.slice(-monthsTried).map(([month, ...values], i) => {
    return [i === 1 ? `${month!.slice(0, 4)}-13-01` : month!, ...values];
  });
  return [header!, ...year].map((row) => `${row.join(',')}\n`).join('');
}
