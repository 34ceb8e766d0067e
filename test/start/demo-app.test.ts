import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { openCatalog, sqliteUrl } from '../../src/catalog/open.ts';
import { ask, jsonOf } from '../support/ask.ts';

test('the running demo invites to its app, and gives a key for the reference', {
  timeout: 120_000,
}, async () => {
  const demo = spawn(process.execPath, ['src/start/demo/main.ts'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(demo, 'exit');
  onTestFinished(() => void demo.kill());
  let said = '';
  for await (const part of demo.stdout.setEncoding('utf8')) {
    said += part;
    if (said.includes('Ctrl-C ends it')) break;
  }
  const found = (pattern: RegExp) => pattern.exec(said)![1]!;
  const [app, token] = found(/^App +(\S+)$/m).split('/invitation#') as [string, string];
  const invitation = await ask(`${app}/app/api/invitation`, {
    method: 'POST',
    headers: { Origin: app, 'Content-Type': 'application/json' },
    body: JSON.stringify({ token }),
  });
  expect(jsonOf(invitation)).toMatchObject({
    company: 'Demo',
    permissions: ['sources.manage'],
  });
  const headers = { Authorization: `Bearer ${found(/^Sandbox +(wk_test_\S+)$/m)}`, Origin: app };
  const address = `${found(/^API +(\S+)$/m)}/v1/samples?from=2014-01-01&to=2016-01-01&sandbox=true`;
  const answer = await ask(address, { headers });
  const read = jsonOf<{ source_id: string; samples: object[] }>(answer);
  // A year of the 23 series, but for the month that is none.
  expect(read.samples).toHaveLength(23 * 11);
  const dataDir = found(/its data is in (\S+)$/m);
  await expectVisited(dataDir, read.source_id);
  demo.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(existsSync(dataDir)).toBe(false);
});

/** What a visitor finds: a rejected record, a conflict, and a verify that found nothing. */
async function expectVisited(dataDir: string, sourceId: string): Promise<void> {
  const catalog = await openCatalog(sqliteUrl(join(dataDir, 'catalog.db')), { thread: false });
  try {
    const all = await catalog.deliveryPages.page(sourceId, { conflicting: true }, { limit: 10 });
    expect(all).toHaveLength(1);
    expect(all[0]).toMatchObject({
      ...{ firstKey: 'tried-out', conflicts: 1 },
      delivery: { status: 'parsed', sandbox: true, counts: { records: 12, rejected: 1 } },
    });
    const { companyId } = (await catalog.directory.source(sourceId))!;
    const checks = await catalog.figures.checks(companyId);
    expect(checks).toMatchObject([{ check: 'verify', differences: 0 }]);
  } finally {
    await catalog.close();
  }
}
