import net from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { head } from '../../support/raw-socket.ts';
import { type TestSource, TestWeir } from '../../support/test-weir.ts';
import { declareBigSource, fillWithBigSamples } from './big-answer.ts';
import { forgetPeak, memoryMiB } from './crowd.ts';

/**
 * Who asks and does not read the answers. On loopback the system takes some MiB of each before
 * weir has to hold anything, so they are larger than that.
 */

const deadlineMs = 14_000;
let weir: TestWeir;
let source: TestSource;
let answerBytes: number;
beforeAll(async () => {
  weir = await TestWeir.start();
  source = await declareBigSource(weir);
  answerBytes = await fillWithBigSamples(source);
});
afterAll(() => weir?.stop());

const ask = (path: string) => head(`GET ${path}`, { Authorization: `Bearer ${source.sender.key}` });

test('who reads nothing is cut, and so is who reads 10 KiB a second', {
  timeout: 60_000,
}, async () => {
  const readers = await Promise.all([open(), open(), open()]);
  const [none, slow, steady] = readers as [net.Socket, net.Socket, net.Socket];
  for (const reader of readers) reader.write(ask('/v1/samples'));
  const began = performance.now();
  const slowRead = readAt(slow, 10 * 1024, deadlineMs);
  const steadyRead = readAt(steady, 2 * 1024 * 1024, deadlineMs);
  expect(await steadyRead).toBeGreaterThan(answerBytes);
  const slowBytes = await slowRead;
  expect(performance.now() - began).toBeGreaterThan(deadlineMs - 1_000);
  // What the system had taken before still comes, then the end.
  for (const [reader, before] of [
    [none, 0],
    [slow, slowBytes],
  ] as const) {
    const bytes = before + (await readToEnd(reader));
    expect(bytes).toBeLessThan(answerBytes);
  }
});

const questions = { sockets: 20, each: 400 };

test.each(['/openapi.json', '/nowhere', '/v1/samples'])(
  'the answers of %s that nobody reads are not held, however many are asked for',
  { timeout: 60_000 },
  async (path) => {
    const pid = weir.running.pid!;
    const before = forgetPeak(pid);
    const sockets = await Promise.all(Array.from({ length: questions.sockets }, () => open()));
    for (let i = 0; i < questions.each; i += 10) {
      for (const socket of sockets) if (socket.writable) socket.write(ask(path).repeat(10));
      await sleep(10);
    }
    await sleep(500);
    expect(memoryMiB(pid, 'VmHWM') - before).toBeLessThan(100);
    expect((await source.sender.get('/v1/samples')).status).toBe(200);
  },
);

/** A connection of which nothing is read until somebody does. */
async function open(): Promise<net.Socket> {
  const socket = net.connect(weir.port, '127.0.0.1');
  socket.on('error', () => {});
  socket.pause();
  await new Promise((resolve) => socket.once('connect', resolve));
  onTestFinished(() => void socket.destroy());
  return socket;
}

/** Reads so many bytes a second, until an end or the time is up. @returns how many it read */
async function readAt(socket: net.Socket, aSecond: number, forMs: number): Promise<number> {
  let bytes = 0;
  for (const end = performance.now() + forMs; performance.now() < end; await sleep(100)) {
    let wanted = Math.ceil(aSecond / 10);
    while (wanted > 0) {
      const part = socket.read(Math.min(wanted, socket.readableLength)) as Buffer | null;
      if (part === null) break;
      bytes += part.length;
      wanted -= part.length;
    }
    if (bytes > answerBytes) return bytes;
  }
  return bytes;
}

function readToEnd(socket: net.Socket): Promise<number> {
  return new Promise((resolve) => {
    let bytes = 0;
    socket.on('data', (part) => {
      bytes += part.length;
    });
    socket.once('close', () => resolve(bytes));
    if (socket.destroyed) resolve(bytes);
    socket.resume();
  });
}
