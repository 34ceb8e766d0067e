import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import { describeWith } from '../support/need.ts';
import { type SystemCall, straceOrSkip, trace } from '../support/strace.ts';
import { openPath, textsOf } from './disk/call-text.ts';
import { enginePid, makePlace } from './place.ts';
import { dayText, documentOf, pushOf, sendUntilKept } from './sender.ts';

const syncs = ['fsync', 'fdatasync'];
const writes = ['write', 'writev', 'pwrite64', 'pwritev', 'pwritev2'];
const sends = ['send', 'sendto', 'sendmsg', 'write', 'writev'];
const renames = ['rename', 'renameat', 'renameat2'];
const traced = [...new Set([...syncs, ...writes, ...sends, ...renames, 'mkdir', 'mkdirat'])];

/**
 * What a power cut may take is what was not synced. So the order of the calls is looked at: each
 * step must have ended before the next began, and the 202 leaves last.
 */
describeWith('power cut', await straceOrSkip(), () => {
  test('bytes, name, directory and receipt are on the disk, in this order, before the 202', {
    timeout: 60_000,
  }, async () => {
    const place = await makePlace();
    try {
      const weir = place.weir();
      await weir.start();
      const tracing = await trace(
        weir.pid!,
        traced.filter((name) => name !== 'send'),
        join(place.dataDir, 'trace'),
      );
      const lines = Array.from({ length: 4_000 }, (_, i) => ({
        ...{ period: dayText(i % 700), page: `/${Math.floor(i / 700)}`, value: `${i}.50` },
      }));
      const sent = [
        documentOf('a-large-document', lines),
        documentOf('a-document', [{ period: dayText(0), page: '/', value: '1' }]),
        pushOf('a push', dayText(0), '1'),
      ];
      for (const one of sent) {
        await sendUntilKept(place, weir.url, one);
        await sleep(500);
      }
      const calls = (await tracing.stop()).filter((call) => !call.failed);
      let from = -1;
      for (const one of sent) {
        const { artifact_id } = JSON.parse(one.receipts[0]!) as { artifact_id: string };
        const shared = one.body.length <= limits.segmentBodyBytesMax;
        from = expectOrder(calls, shared ? '.segment' : artifact_id, from);
      }
    } finally {
      await place.remove();
    }
  });

  test('rows are on the disk of ClickHouse before the catalog says that they are parsed', {
    timeout: 60_000,
  }, async () => {
    const place = await makePlace();
    try {
      const weir = place.weir();
      await weir.start();
      const calls = [...syncs, ...renames, 'openat', 'write', 'pwrite64'];
      const both = [weir.pid!, enginePid(weir)];
      // Long enough for a page of the catalog.
      const tracing = await trace(both, calls, join(place.dataDir, 'trace'), { textBytes: 5_000 });
      await sendUntilKept(place, weir.url, pushOf('a push', dayText(0), '1'));
      const list = () => place.catalog.deliveries.list(place.push.sourceId, { limit: 1 });
      await expect.poll(async () => (await list())[0]?.status, { timeout: 20_000 }).toBe('parsed');
      const { object } = (await list())[0]!.place;
      expectRowsBefore(await tracing.stop(), object);
    } finally {
      await place.remove();
    }
  });
});

/**
 * @param end of the object's name
 * @returns when the 202 had left
 */
function expectOrder(calls: readonly SystemCall[], end: string, from: number): number {
  const next = nextIn(calls);
  const named = calls.filter(
    ({ begun, name, text }) => begun > from && renames.includes(name) && text.includes(end),
  );
  const rename = named.find(({ text }) => text.includes(`${end}"`))!;
  const [, temp, day] = /"([^"]+)", .*?"([^"]+)\/[^"/]+"/.exec(rename.text)!;

  const written = next('the body is written', writes, `<${temp}>`, from);
  const synced = next('the body is synced', syncs, `<${temp}>`, written.ended);
  expect(synced.ended, 'the body is synced before it has its name').toBeLessThan(rename.begun);
  if (end !== '.segment') {
    const sidecar = named.find(({ text }) => text.includes(`${end}.json"`))!;
    expect(sidecar.ended, 'metadata are there before the body is').toBeLessThan(rename.begun);
  }
  const directory = next('the name is synced', syncs, `<${day}>`, rename.ended);
  expectFoldersSynced(calls, day!, directory.ended);

  const log = next('the receipt is written', writes, 'catalog.db-wal>', directory.ended);
  const durable = next('the receipt is synced', syncs, 'catalog.db-wal>', log.ended);
  const answer = next('the 202 leaves', sends, 'HTTP/1.1 202', from);
  expect(durable.ended, 'the receipt is durable before the 202').toBeLessThan(answer.begun);
  return answer.ended;
}

/** Finds the first call of a kind that began after another had ended. */
function nextIn(calls: readonly SystemCall[]) {
  return (what: string, names: readonly string[], mark: string, after: number): SystemCall => {
    const found = calls.find(
      (call) => call.begun > after && names.includes(call.name) && call.text.includes(mark),
    );
    if (!found) throw new Error(`never after call ${after}: ${what} (${names} of ${mark})`);
    return found;
  };
}

/** A folder made for the day is named in its parent, which must be durable too. */
function expectFoldersSynced(calls: readonly SystemCall[], day: string, before: number): void {
  const made = calls.filter(
    ({ name, text }) => name.startsWith('mkdir') && day.startsWith(pathIn(text)),
  );
  for (const { text, ended } of made) {
    const parent = pathIn(text).replace(/\/[^/]+$/, '');
    const synced = calls.find(
      (call) =>
        syncs.includes(call.name) && call.begun > ended && call.text.includes(`<${parent}>`),
    );
    expect(synced?.ended, `${parent} is synced`).toBeLessThanOrEqual(before);
  }
}

function pathIn(text: string): string {
  return /"([^"]+)"/.exec(text)![1]!;
}

/** Every file of every part that the insert made is synced, the part's directory, and its name. */
function expectRowsBefore(all: readonly SystemCall[], object: string): void {
  const calls = all.filter((call) => !call.failed);
  const said = calls.find(
    ({ name, text }) =>
      name === 'pwrite64' &&
      openPath(text)?.endsWith('/catalog.db-wal') &&
      text.includes(object) &&
      /parsed/.test(text),
  );
  if (!said) throw new Error('the catalog never said that it is parsed');
  const isSynced = (path: string, after: number) =>
    calls.some(
      ({ name, text, begun, ended }) =>
        syncs.includes(name) && openPath(text) === path && begun > after && ended < said.begun,
    );
  const parts = calls.filter(
    ({ name, text, ended }) =>
      renames.includes(name) && text.includes('/tmp_insert_') && ended < said.begun,
  );
  // Of every row ever parsed, and of those that are read.
  expect(parts).toHaveLength(2);
  for (const part of parts) {
    const [from, to] = textsOf(part.text).map((path) => path.replace(/\/$/, ''));
    const made = calls.filter(
      ({ name, text, ended }) =>
        name === 'openat' &&
        text.includes('O_CREAT') &&
        text.includes(`"${from}/`) &&
        ended < part.ended,
    );
    expect(made.length).toBeGreaterThan(4);
    for (const { text } of made) {
      const [path] = textsOf(text);
      const wrote = calls.findLast((c) => writes.includes(c.name) && openPath(c.text) === path);
      expect(isSynced(path!, wrote!.ended), `${path} is synced`).toBe(true);
    }
    expect(isSynced(dirname(to!), part.ended), `the name of ${to}`).toBe(true);
    expect(isSynced(from!, made.at(-1)!.ended) || isSynced(to!, part.ended), `${to}`).toBe(true);
  }
}
