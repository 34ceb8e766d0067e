import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { engineFiles } from '../../src/samples/engine/files.ts';
import type { RunningWeir } from '../../src/start/demo/running-weir.ts';
import { newSecret } from '../../src/start/new-secret.ts';
import { readSettings } from '../../src/start/settings.ts';
import { expectNothingLost } from '../faults/oracle.ts';
import { type FaultPlace, makePlace } from '../faults/place.ts';
import { dayText, documentOf, pushOf, sendUntilKept } from '../faults/sender.ts';
import { ask } from '../support/ask.ts';
import { minioOrSkip, startMinio } from '../support/minio.ts';
import { describeWith } from '../support/need.ts';
import { straceOrSkip } from '../support/strace.ts';
import { signature } from '../support/webhook.ts';

/**
 * weir connects to its configured stores and to nothing else: every connect and every addressed
 * send of every process and thread of it is looked at, from the start to the end of a service that
 * takes each kind of delivery and answers reads.
 */

const launcher = fileURLToPath(new URL('../../src/start/weir', import.meta.url));
const timeout = 120_000;
/** Whoever sends without a connection names an address in the call. */
const traced = 'trace=connect,sendto,sendmsg,sendmmsg';

describeWith('outgoing connections', await straceOrSkip(), () => {
  test('of a demo deployment on files are those to its own engine alone', { timeout }, async () => {
    const place = await makePlace();
    try {
      const called = await calledBy(place, { WEIR_DEMO: '1' });
      expect(called).toEqual([`unix ${engineFiles(place.dataDir).socket}`]);
    } finally {
      await place.remove();
    }
  });
});

describeWith(
  'outgoing connections to MinIO',
  bothOf(await straceOrSkip(), await minioOrSkip()),
  () => {
    test('are those to its address, and to its own engine', { timeout }, async () => {
      const [place, minio] = [await makePlace(), await startMinio()];
      try {
        const called = await calledBy(place, { WEIR_ARTIFACTS_URL: minio.url('connects') });
        const own = `unix ${engineFiles(place.dataDir).socket}`;
        expect(called).toEqual([`127.0.0.1:${minio.port}`, own]);
      } finally {
        await place.remove();
        await minio.stop();
      }
    });
  },
);

type Needs = Parameters<typeof describeWith>[1];

function bothOf(one: Needs, other: Needs): Needs {
  return one.reason === null ? other : one;
}

/** Runs a service through its work under strace. @returns whom it called, each once, sorted */
async function calledBy(
  place: FaultPlace,
  settings: Readonly<Record<string, string>>,
): Promise<string[]> {
  const weir = place.weir(settings);
  const file = join(place.dataDir, 'calls');
  const args = ['-f', '--seccomp-bpf', '-s', '300', '-e', traced, '-o', file, launcher, 'serve'];
  const child = spawn('strace', args, { env: weir.env(), stdio: ['ignore', 'pipe', 'ignore'] });
  let log = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    log += text;
  });
  try {
    await ready(weir, child);
    if (settings.WEIR_DEMO === '1') await readDemo(weir);
    else await work(place, weir, settings);
    await ask(`http://127.0.0.1:${weir.place.ops}/metrics`);
  } finally {
    // Not strace, which ends with the last process that it traces.
    const pid = Number(/"pid":(\d+)/.exec(log)?.[1]);
    if (child.exitCode === null) {
      process.kill(pid, 'SIGTERM');
      await once(child, 'exit');
    }
  }
  return addressesIn(await readFile(file, 'latin1'));
}

async function ready(weir: RunningWeir, child: ChildProcess): Promise<void> {
  const url = `http://127.0.0.1:${weir.place.ops}/readyz`;
  for (const end = Date.now() + 60_000; Date.now() < end; await sleep(50)) {
    if (child.exitCode !== null) throw new Error(`the service ended with ${child.exitCode}`);
    if (
      await fetch(url).then(
        ({ ok }) => ok,
        () => false,
      )
    )
      return;
  }
  throw new Error('the service is not ready');
}

async function readDemo({ url }: RunningWeir): Promise<void> {
  const headers = { Authorization: 'Bearer wk_demo_ukcuS3yB41pjdaLOwm9PfmzzLod7nYGD' };
  expect((await ask(`${url}/v1/samples`, { headers })).status).toBe(200);
}

async function work(
  place: FaultPlace,
  weir: RunningWeir,
  settings: Readonly<Record<string, string>>,
): Promise<void> {
  const lines = Array.from({ length: 8_000 }, (_, i) => ({
    ...{ period: dayText(i % 700), page: `/${Math.floor(i / 700)}`, value: `${i}` },
  }));
  const sent = [
    pushOf('a push', dayText(0), '1'),
    documentOf('a-document', lines.slice(0, 3)),
    documentOf('a-large-document', lines),
  ];
  // Answers hold 5,000 samples: the oracle is asked before there are more.
  for (const one of sent.slice(0, 2)) await sendUntilKept(place, weir.url, one);
  await expectNothingLost(place, weir, sent.slice(0, 2), settings.WEIR_ARTIFACTS_URL);
  await sendUntilKept(place, weir.url, sent[2]!);
  await sendWebhook(place, weir);
}

async function sendWebhook(place: FaultPlace, weir: RunningWeir): Promise<void> {
  const { text, secret } = newSecret(readSettings({ WEIR_DATA_DIR: place.dataDir }));
  const { directory } = place.catalog;
  const known = await directory.source(place.push.sourceId);
  const source = { sourceId: randomUUID(), companyId: known!.companyId, name: 'hook', secret };
  const fields = [
    { name: 'day', role: 'period' },
    { name: 'revenue', role: 'value', metric: 'revenue' },
  ] as const;
  const about = { delivery: 'webhook', format: 'csv', fields, savedBy: 'test' } as const;
  await directory.createSource({ ...source, ...about }, Date.now());
  const body = '{"day":"2026-01-01","revenue":"1"}';
  const time = Math.floor(Date.now() / 1_000);
  const headers = {
    'Content-Type': 'application/json',
    'Service-Delivery-Id': 'id',
    'Service-Signature': `t=${time},v1=${signature(text, time, 'id', body)}`,
  };
  const url = `${weir.url}/v1/webhooks/${source.sourceId}`;
  expect((await ask(url, { method: 'POST', headers, body })).status).toBe(202);
}

/**
 * The embedded engine looks its machine's name up as it starts, as ClickHouse does: the kernel and
 * the machine's own name service tell it; where they do not, the name servers of the machine.
 */
function ofTheMachine(called: string): boolean {
  const servers = readFileSync('/etc/resolv.conf', 'utf8').matchAll(/^nameserver\s+(\S+)/gm);
  const own = ['AF_NETLINK', 'unix /var/run/nscd/socket'];
  return [...own, ...[...servers].map(([, server]) => `${server}:53`)].includes(called);
}

/** Addresses in calls that name one; a send on a connection names none. */
function addressesIn(text: string): string[] {
  const found = new Set<string>();
  for (const line of text.split('\n')) {
    const family = /sa_family=(\w+)/.exec(line)?.[1];
    if (family === undefined) continue;
    const path = /sun_path=@?"([^"]*)"/.exec(line)?.[1];
    const port = /sin6?_port=htons\((\d+)\)/.exec(line)?.[1];
    const address = /inet_(?:addr|pton)\((?:AF_INET6, )?"([^"]+)"/.exec(line)?.[1];
    if (family === 'AF_UNIX') found.add(`unix ${path}`);
    else if (address !== undefined) found.add(`${address}:${port}`);
    else if (family === 'AF_NETLINK') found.add(family);
    else found.add(`${family}: ${line}`);
  }
  return [...found].filter((called) => !ofTheMachine(called)).sort();
}
