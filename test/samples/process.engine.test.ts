import { type ChildProcess, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, test } from 'vitest';
import { openSamples } from '../../src/samples/clickhouse.ts';
import { openEngineAddress, startEngine } from '../../src/samples/engine/supervisor.ts';
import { type SampleStore, SamplesAway } from '../../src/samples/samples.ts';
import { isAlive } from '../support/alive.ts';
import { encode, freshEngine, quiet, read, samplesOnly, until } from './support.ts';

const cleanUps: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

async function fresh(options: Parameters<typeof freshEngine>[0] = {}) {
  const made = await freshEngine(options);
  cleanUps.push(made.remove);
  return made;
}

function storeAt(address: Parameters<typeof openSamples>[0]): SampleStore {
  const store = openSamples(address);
  cleanUps.push(() => store.close());
  return store;
}

function freshDirectory(prefix = 'weir-engine-'): string {
  const path = mkdtempSync(join(tmpdir(), prefix));
  cleanUps.push(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

/** A process on one of the project's files, ended after the test whatever it does. */
function startProcess(file: string, argument: string, ...io: ('pipe' | 'ipc')[]): ChildProcess {
  const path = fileURLToPath(new URL(file, import.meta.url));
  const child = spawn(process.execPath, [path, argument], { stdio: ['ignore', ...io] });
  cleanUps.push(() => {
    child.kill('SIGKILL');
  });
  return child;
}

async function firstLine(child: ChildProcess): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) return line;
  throw new Error('the process ended without a line');
}

describe('an engine that dies', () => {
  test('by SIGKILL during inserts comes back with every acknowledged insert', async () => {
    const { engine } = await fresh();
    const store = storeAt(engine.address);
    await store.prepare();
    const sourceId = randomUUID();
    const acknowledged = new Set<number>();
    let away = 0;
    let sequence = 0;
    let done = false;
    const inserting = (async () => {
      while (!done) {
        sequence += 1;
        const samples = Array.from({ length: 200 }, (_, day) => ({ day, value: `${sequence}` }));
        const labelled = samples.map((one) => ({ ...one, labels: { s: `${sequence}` } }));
        try {
          await store.insert(samplesOnly(encode({ sourceId, sequence, samples: labelled })));
          acknowledged.add(sequence);
        } catch (error) {
          expect(error).toBeInstanceOf(SamplesAway);
          away += 1;
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      }
    })();
    const killed = new Set<number>();
    for (let kill = 0; kill < 3; kill++) {
      const before = acknowledged.size;
      await until('inserts are acknowledged', 20_000, () => acknowledged.size >= before + 5);
      const pid = engine.pid()!;
      killed.add(pid);
      process.kill(pid, 'SIGKILL');
      await until('another engine runs', 10_000, () => ![null, pid].includes(engine.pid()));
    }
    const before = acknowledged.size;
    await until('inserts are acknowledged again', 20_000, () => acknowledged.size > before);
    done = true;
    await inserting;

    const oneDay = await read(store, { sourceId, fromDay: 7, toDay: 8 });
    const found = new Set(oneDay.map((sample) => Number(sample.value)));
    expect([...acknowledged].filter((one) => !found.has(one))).toEqual([]);
    for (const one of acknowledged) {
      const whole = oneDay.filter((sample) => sample.labels.s === `${one}`);
      expect(whole).toHaveLength(1);
    }
    expect([killed.size, away > 0]).toEqual([3, true]);
  });

  test('leaves its callers with SamplesAway, and its cause, until it is back', async () => {
    const { engine } = await fresh();
    const store = storeAt(engine.address);
    await store.prepare();
    const pid = engine.pid()!;
    process.kill(pid, 'SIGKILL');
    await until('it is gone', 5_000, () => !isAlive(pid));
    const error = await store.ping().catch((each: unknown) => each);
    expect(error).toBeInstanceOf(SamplesAway);
    expect((error as SamplesAway).cause).toBeInstanceOf(Error);
    await expect
      .poll(() => store.ping().then(() => 'back', String), { timeout: 10_000 })
      .toBe('back');
  });

  test('is not started again after stop', async () => {
    const { engine } = await fresh();
    const pid = engine.pid()!;
    await engine.stop();
    expect(isAlive(pid)).toBe(false);
    await new Promise((resolve) => setTimeout(resolve, 300));
    expect(engine.pid()).toBeNull();
  });
});

describe('the engine and its parent', () => {
  test('a parent killed by SIGKILL takes the engine along within 2 s', async () => {
    const dataDir = freshDirectory();
    const parent = startProcess('./engine-parent.ts', dataDir, 'pipe', 'pipe');
    const { pid } = JSON.parse(await firstLine(parent)) as { pid: number };
    expect(isAlive(pid)).toBe(true);
    parent.kill('SIGKILL');
    await until('the engine is gone', 2_000, () => !isAlive(pid));
    // And its directory is free at once.
    const { engine } = await fresh({ dataDir });
    await storeAt(engine.address).ping();
  });

  test('signals to the whole group are left to the parent', async () => {
    const { engine } = await fresh();
    const pid = engine.pid()!;
    process.kill(pid, 'SIGINT');
    process.kill(pid, 'SIGTERM');
    await new Promise((resolve) => setTimeout(resolve, 200));
    await storeAt(engine.address).ping();
    expect(engine.pid()).toBe(pid);
  });

  test('alone, it ends on SIGTERM', async () => {
    const dataDir = freshDirectory();
    const child = startProcess(
      '../../src/samples/engine/main.ts',
      JSON.stringify({ dataDir }),
      ...(['pipe', 'pipe'] as const),
    );
    await until('it is ready', 20_000, () => existsSync(join(dataDir, 'engine.json')));
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  });
});

describe('a data directory', () => {
  test('has one engine: a second one ends with one clear line', async () => {
    const { engine, dataDir } = await fresh();
    const second = startEngine({ dataDir, log: quiet, ownerWaitMs: 200 });
    await expect(second).rejects.toThrow(/^another engine is running on .*; one directory has/);
    const child = startProcess(
      '../../src/samples/engine/main.ts',
      JSON.stringify({ dataDir, ownerWaitMs: 200 }),
      ...(['pipe', 'pipe'] as const),
    );
    const output: Buffer[] = [];
    child.stderr!.on('data', (chunk: Buffer) => output.push(chunk));
    const [code] = (await once(child, 'close')) as [number];
    const lines = Buffer.concat(output).toString().trim().split('\n');
    expect([code, lines.length]).toEqual([1, 1]);
    await storeAt(engine.address).ping();
  });

  test('waits for a predecessor that is about to end', async () => {
    const { engine, dataDir } = await fresh();
    const second = fresh({ dataDir, ownerWaitMs: 10_000 });
    await new Promise((resolve) => setTimeout(resolve, 500));
    await engine.stop();
    await storeAt((await second).engine.address).ping();
  });

  test('tells other processes the address, to this user only', async () => {
    const { engine, dataDir } = await fresh();
    expect(openEngineAddress(dataDir)).toEqual(engine.address);
    expect(statSync(join(dataDir, 'engine.json')).mode & 0o777).toBe(0o600);
    expect(statSync(engine.address.socketPath!).mode & 0o077).toBe(0);
    await storeAt(openEngineAddress(dataDir)).ping();
  });

  test('keeps its password, so that a program open on it goes on after a restart', async () => {
    const { engine, dataDir } = await fresh();
    const store = storeAt(engine.address);
    await engine.stop();
    await fresh({ dataDir });
    await store.ping();
  });

  test('where no engine ever ran says so', () => {
    const dataDir = freshDirectory();
    expect(() => openEngineAddress(dataDir)).toThrow(/^no engine has run on /);
  });

  test('with a path too long for a socket has it elsewhere, and says where', async () => {
    const dataDir = join(freshDirectory(), 'a'.repeat(120));
    const { engine } = await fresh({ dataDir });
    const folder = dirname(engine.address.socketPath!);
    cleanUps.unshift(() => rmSync(folder, { recursive: true, force: true }));
    expect(engine.address.socketPath!.length).toBeLessThan(107);
    expect(readFileSync(join(dataDir, 'engine.json'), 'utf8')).toContain(engine.address.socketPath);
    await storeAt(openEngineAddress(dataDir)).ping();
  });
});
