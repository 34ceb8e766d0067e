import { createHash } from 'node:crypto';
import { cp, mkdtemp, readdir, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { expect, test } from 'vitest';
import { openArtifacts } from '../../../src/artifacts/open.ts';
import { openCatalog, sqliteUrl } from '../../../src/catalog/open.ts';
import { decodeMark } from '../../../src/domain/store-mark.ts';
import { RunningWeir } from '../../../src/start/demo/running-weir.ts';
import { describeWith } from '../../support/need.ts';
import { seedOf } from '../../support/seed.ts';
import { type SystemCall, straceOrSkip, trace, traceCommand } from '../../support/strace.ts';
import { randomOf } from '../load.ts';
import { expectNothingLost } from '../oracle.ts';
import { type FaultPlace, makePlace } from '../place.ts';
import { dayText, documentOf, pushOf, type Sent, sendUntilKept } from '../sender.ts';
import { endLeases } from './leases.ts';
import { Disk, filesTraced } from './what-survives.ts';

const timeout = 120_000;
const sends = ['sendto', 'sendmsg'];
const main = fileURLToPath(new URL('../../../src/start/main.ts', import.meta.url));

describeWith('after a power cut', await straceOrSkip(), () => {
  test('what the disk must have kept holds every 202 that had left, whenever it comes', {
    timeout,
  }, async () => {
    const random = randomOf(seedOf('power cuts'));
    const outside = await mkdtemp(join(tmpdir(), 'weir-cut-'));
    const place = await makePlace();
    try {
      const run = await traceFirstRun(place, outside);
      const answers = run.answers.map(({ begun }) => begun);
      const anywhere = Array.from({ length: 4 }, () => random(answers.at(-1)!));
      for (const cut of [...answers, ...anywhere]) {
        for (const keep of [() => false, () => random(2) === 0]) {
          const left = join(outside, 'left');
          await run.disk.write(run.base, left, cut, keep);
          await expectKept(place, left, run.sent, receiptsBefore(run.answers, cut));
          await rm(left, { recursive: true });
        }
      }
      const half = Math.floor(answers.length / 2);
      const cut = answers[half + random(half)]!;
      await run.disk.write(run.base, join(outside, 'left'), cut, () => random(2) === 0);
      const receipts = receiptsBefore(run.answers, cut);
      expect(receipts.size).toBeGreaterThanOrEqual(half);
      await expectGoesOn(place, join(outside, 'left'), run.sent, receipts);
      const count = 2 * (answers.length + anywhere.length);
      console.log(`power cuts: ${count}, of a run of ${answers.length} answers`);
    } finally {
      await place.remove();
      await rm(outside, { recursive: true, force: true });
    }
  });

  test('the data directory itself, and all that a first command makes in it, is on the disk', {
    timeout,
  }, async () => {
    const root = await mkdtemp(join(tmpdir(), 'weir-cut-'));
    try {
      const env = { ...process.env, WEIR_DATA_DIR: join(root, 'new', 'data') };
      const about = ['company', 'create', '--name', 'C', '--timezone', 'Europe/Berlin'];
      const command = [process.execPath, main, ...about];
      const calls = await traceCommand(command, env, filesTraced, join(root, 'trace'));
      const disk = new Disk(root, new Map(), calls);
      expect(await readdir(env.WEIR_DATA_DIR)).toContain('catalog.db');
      expect(disk.unsafeNames()).toEqual([]);
    } finally {
      await rm(root, { recursive: true, force: true });
    }
  });
});

interface FirstRun {
  readonly sent: readonly Sent[];
  /** The 202s that left, in their order. */
  readonly answers: readonly SystemCall[];
  readonly disk: Disk;
  /** A copy of the directory before the service first ran on it. */
  readonly base: string;
}

/** Traces a service from its first start on, while it takes deliveries of every kind. */
async function traceFirstRun(place: FaultPlace, outside: string): Promise<FirstRun> {
  const base = join(outside, 'base');
  await cp(place.dataDir, base, { recursive: true });
  const before = new Map<string, boolean>();
  for (const entry of await readdir(place.dataDir, { recursive: true, withFileTypes: true })) {
    before.set(join(entry.parentPath, entry.name), entry.isDirectory());
  }
  const weir = place.weir();
  const started = weir.start();
  started.catch(() => {}); // Told where it is awaited.
  while (!(await readlink(`/proc/${weir.pid}/exe`)).endsWith('/node')) await sleep(5);
  const tracing = await trace(weir.pid!, [...filesTraced, ...sends], join(outside, 'trace'), {
    textBytes: 1 << 20,
  });
  await started;
  const sent: Sent[] = [];
  const send = (all: readonly Sent[]) => {
    sent.push(...all);
    return Promise.all(all.map((one) => sendUntilKept(place, weir.url, one)));
  };
  await send([largeDocument('first')]);
  for (let round = 0; round < 3; round++) {
    await send(Array.from({ length: 12 }, (_, n) => some(`${round}-${n}`, round * 12 + n)));
    await sleep(500); // Something is parsed, and the mark follows.
  }
  await send([largeDocument('last'), some('end', 40)]);
  await sleep(300); // The tracer writes of a call after it has returned.
  const calls = await tracing.stop();
  await weir.end('SIGKILL');
  const answers = calls.filter(
    ({ name, text }) => sends.includes(name) && text.includes('HTTP/1.1 202'),
  );
  expect(answers.length).toBe(sent.length);
  return { sent, answers, base, disk: new Disk(place.dataDir, before, calls) };
}

function some(key: string, n: number): Sent {
  const day = dayText(n);
  if (n % 3 > 0) return pushOf(key, day, `${n}.50`);
  return documentOf(key, [{ period: day, page: '/', value: `${n}` }]);
}

/** 100 KiB in one sample: an object of its own. */
function largeDocument(key: string): Sent {
  const small = documentOf(key, [{ period: dayText(50), page: `/${key}`, value: '1' }]);
  const body = `day,page,visits,note\n${dayText(50)},/${key},1,${'x'.repeat(100_000)}\n`;
  return { ...small, body: Buffer.from(body) };
}

/** Artifact ids of the 202s that may have left before a cut. */
function receiptsBefore(answers: readonly SystemCall[], cut: number): Set<string> {
  const left = answers.filter((call) => call.begun <= cut);
  return new Set(left.map(({ text }) => /artifact_id\\":\\"([0-9a-f-]{36})/.exec(text)![1]!));
}

function artifactOf(sent: Sent): string {
  return (JSON.parse(sent.receipts[0]!) as { artifact_id: string }).artifact_id;
}

/** Each receipt has its row and its bytes, and the mark of the store does not know of more. */
async function expectKept(
  place: FaultPlace,
  left: string,
  sent: readonly Sent[],
  receipts: ReadonlySet<string>,
): Promise<void> {
  const catalog = await openCatalog(sqliteUrl(join(left, 'catalog.db')), { thread: false });
  const artifacts = openArtifacts(pathToFileURL(join(left, 'artifacts')).href);
  try {
    const kinds = [place.push, place.document];
    const lists = kinds.map((one) => catalog.deliveries.list(one.sourceId, { limit: 1_000 }));
    const rows = new Map((await Promise.all(lists)).flat().map((row) => [row.artifactId, row]));
    for (const one of sent.filter((s) => receipts.has(artifactOf(s)))) {
      const row = rows.get(artifactOf(one));
      const sha256 = createHash('sha256').update(one.body).digest('hex');
      expect(row, `the receipt of ${one.key}`).toMatchObject({ sha256 });
      const bytes = await buffer(await artifacts.read(row!.place));
      expect(bytes.equals(one.body), `the bytes of ${one.key}`).toBe(true);
    }
    const mark = decodeMark((await artifacts.readMark()) ?? '')?.sequence ?? 0;
    expect(mark).toBeLessThanOrEqual((await catalog.upkeep.standing()).sequence);
  } finally {
    await Promise.all([catalog.close(), artifacts.close()]);
  }
}

/**
 * A service on what is left takes the rest. Its samples are made again from what was kept, since
 * the files of ClickHouse are not followed here.
 */
async function expectGoesOn(
  place: FaultPlace,
  dataDir: string,
  sent: readonly Sent[],
  receipts: ReadonlySet<string>,
): Promise<void> {
  const weir = new RunningWeir({ ...place.weir().place, dataDir });
  const catalog = await openCatalog(sqliteUrl(join(dataDir, 'catalog.db')), { thread: false });
  try {
    endLeases(dataDir);
    await weir.start();
    await weir.cli('rebuild');
    // Who had no answer before the cut never saw the one that came after it.
    for (const one of sent) if (!receipts.has(artifactOf(one))) one.receipts.length = 0;
    for (const one of sent) await sendUntilKept(place, weir.url, one);
    await expectNothingLost({ ...place, dataDir, catalog }, weir, sent);
  } finally {
    await weir.end('SIGKILL');
    await catalog.close();
  }
}
