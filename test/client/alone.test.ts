import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { importedBy } from '../support/imported.ts';
import { FakeService, receipt } from './fake-service.ts';

const run = promisify(execFile);
const client = fileURLToPath(new URL('../../src/client', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'weir-alone-'));
const service = new FakeService();
beforeAll(() => service.start());
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

test('a program far from weir and its packages can send with a copy of src/client', async () => {
  cpSync(client, join(folder, 'client'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const program = `
    import { push } from './client/sender.ts';
    const to = { baseUrl: process.argv[2], accessKey: 'wk_live_x' };
    const payload = { month: '2026-01', mrr: '10.50' };
    const sent = await push(to, { idempotencyKey: 'one', shapeVersion: 1, payload });
    console.log(JSON.stringify(sent.receipt));`;
  writeFileSync(join(folder, 'program.ts'), program);
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts'), service.url]);
  expect(JSON.parse(stdout)).toEqual(receipt);
});

test('the client imports itself and node, and nothing else', () => {
  const wrong = readdirSync(client).flatMap((name) =>
    importedBy(name, readFileSync(join(client, name), 'utf8')).filter(
      (to) => !/^(\.\/[a-z-]+\.ts|node:.+)$/.test(to),
    ),
  );
  expect(wrong).toEqual([]);
});
