import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const child = fileURLToPath(new URL('./refused-child.ts', import.meta.url));

test('packed bodies that are refused at their beginning leave the process alive', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'weir-refused-'));
  // Memory that was given back is then unmapped: whoever still reads it ends the process.
  const env = { ...process.env, MALLOC_MMAP_THRESHOLD_: '65536' };
  const { stdout } = await promisify(execFile)(process.execPath, [child, directory], { env });
  await rm(directory, { recursive: true });
  const [text, sheet] = ['invalid_utf8', 'xlsx_invalid'];
  expect(JSON.parse(stdout)).toEqual([...Array(4).fill(text), ...Array(2).fill(sheet)]);
});
