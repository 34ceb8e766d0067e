import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { expect, onTestFinished, test } from 'vitest';
import { ask, jsonOf } from '../support/ask.ts';

test('the running demo invites to its app, and gives a key for the reference', async () => {
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
  const read = jsonOf<{ samples: object[] }>(await ask(address, { headers }));
  // A year of the 23 series, but for the month that is none.
  expect(read.samples).toHaveLength(23 * 11);
  demo.kill('SIGINT');
  expect(await ended).toEqual([0, null]);
  expect(existsSync(found(/its data is in (\S+)$/m))).toBe(false);
});
