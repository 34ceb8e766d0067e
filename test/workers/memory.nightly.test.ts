import { execFile } from 'node:child_process';
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { createGzip } from 'node:zlib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { limits } from '../../src/domain/limits.ts';
import type { Counts, Rejection } from '../../src/domain/nouns.ts';

const mebibyte = 1024 * 1024;
const child = fileURLToPath(new URL('./memory-child.ts', import.meta.url));
let directory: string;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'weir-memory-'));
});

afterAll(() => rm(directory, { recursive: true }));

interface Taken {
  readonly idle: number;
  readonly peak: number;
  readonly counts: Counts;
  readonly refusal: Rejection | null;
  readonly rows: number;
}

/** Packs text of 100 MiB into a body that can be delivered; parses it in a process of its own. */
async function parseHundredMebibytes(
  format: string,
  head: string,
  line: (i: number) => string,
  tail: string,
): Promise<Taken & { readonly lines: number }> {
  const path = join(directory, format);
  let lines = 0;
  function* pieces() {
    yield head;
    for (let bytes = 0; bytes < 100 * mebibyte; ) {
      let piece = '';
      while (piece.length < 64 * 1024) piece += line(lines++);
      bytes += piece.length;
      yield piece;
    }
    yield tail;
  }
  await pipeline(Readable.from(pieces()), createGzip(), createWriteStream(path));
  expect((await stat(path)).size).toBeLessThan(limits.deliveryBytesMax);
  const run = promisify(execFile);
  const { stdout } = await run(process.execPath, ['--expose-gc', child, path, format]);
  return { ...(JSON.parse(stdout) as Taken), lines };
}

const day = (i: number) => new Date(Date.UTC(2000, 0, 1 + (i % 9_000))).toISOString().slice(0, 10);
const shop = (i: number) => `the shop in the town of district ${Math.floor(i / 9_000)}`;
const cent = (i: number) => `${(i * 7) % 10}.50`;

test.each<[string, string, (i: number) => string]>([
  [
    'csv with a label of its own in each record',
    'day,shop,revenue,orders\n',
    (i) => `${day(Math.floor(i / 9_000))},the shop in the town of district ${i},7.50,3\n`,
  ],
  ['csv', 'day,shop,revenue,orders\n', (i) => `${day(i)},${shop(i)},${cent(i)},${i % 10}\n`],
  [
    'json',
    '[',
    (i) => {
      const fields = `"day":"${day(i)}","shop":"${shop(i)}","revenue":${cent(i)},"orders":3`;
      return `${i === 0 ? '' : ','}{${fields}}`;
    },
  ],
])(
  '100 MiB of %s stay under 200 MiB of memory',
  async (name, head, line) => {
    const format = name.split(' ', 1)[0]!;
    const taken = await parseHundredMebibytes(format, head, line, format === 'json' ? ']' : '');
    const { idle, peak, counts, refusal, rows, lines } = taken;
    expect(refusal).toBeNull();
    expect(counts).toMatchObject({ records: lines, parsed: lines });
    expect(rows).toBe(2 * lines);
    const took = (peak - idle) / mebibyte;
    console.log(`${name}: ${took.toFixed(0)} MiB`);
    expect(took).toBeLessThan(200);
  },
  180_000,
);
