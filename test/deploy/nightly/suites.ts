import { cp, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { run } from './run.ts';
import type { StandIns } from './stand-ins.ts';

/**
 * Suites of the HTTP surface on the Node and the uWebSockets.js of the image, in a Debian 13 root.
 * The parser of that uWebSockets.js differs from the lock's in two things, for which the README's
 * list of refusals is of the lock's:
 *
 * - what cannot be a head (NUL, control characters, no colon, a folded line) gets a short page with
 *   400 at once, where the lock's waits for more and cuts off after 10 s;
 * - two `Host` lines get that page from the parser, where with the lock's weir itself answers 400.
 */
const suites = ['test/http/', 'test/accept/', 'test/protocol/hostile', 'test/protocol/tenancy'];
const differing = ['does not take for a head', 'two Host lines'];

const binds = `
  root=$1; checkout=$2; uwebsockets=$3; shift 3
  mount --bind "$checkout" "$root/app"
  mount --bind "$uwebsockets" "$root/app/node_modules/uWebSockets.js"
  mount -t proc proc "$root/proc"
  mount -t tmpfs tmpfs "$root/tmp"
  exec chroot "$root" env -i -C /app "$@"`;

export async function runSuites(standIns: StandIns, work: string, checkout: string) {
  const uwebsockets = join(work, 'uwebsockets');
  await cp(standIns.uwebsockets, uwebsockets, { recursive: true });
  // As the Dockerfile writes it.
  const own = { name: 'uWebSockets.js', exports: './ESM_wrapper.mjs' };
  await writeFile(join(uwebsockets, 'package.json'), JSON.stringify(own));
  const root = join(work, 'suites');
  await run('cp', ['-a', '--reflink=auto', standIns.node, root]);
  await mkdir(join(root, 'app'));
  const environment = [
    ...['PATH=/usr/local/bin:/usr/bin:/bin', 'HOME=/root', 'UWS_HTTP_MAX_HEADERS_SIZE=16384'],
  ];
  const vitest = ['node', 'node_modules/vitest/vitest.mjs', 'run', '--no-cache', ...suites];
  const others = ['--testNamePattern', `^(?!.*(${differing.join('|')}))`];
  const spaces = ['--mount', '--pid', '--fork', '--kill-child', 'sh', '-euc', binds, 'suites'];
  const all = [...spaces, root, checkout, uwebsockets, ...environment, ...vitest, ...others];
  const said = await run('unshare', all);
  console.log(said.split('\n').slice(-8).join('\n').trimEnd());
}
