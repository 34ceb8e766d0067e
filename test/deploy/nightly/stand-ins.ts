import { cp, mkdir, mkdtemp, readFile, realpath, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ensureDebian } from '../../support/debian.ts';
import { run } from './run.ts';

/**
 * What stands for images and repositories that a machine without Docker cannot fetch: a Debian 13
 * root made by debootstrap, Node and uWebSockets.js out of packages.
 */
export interface StandIns {
  /** A root of `debian:trixie-slim`. */
  readonly debian: string;
  /** A root of `node:…-trixie-slim`, with what this machine needs to reach its registry. */
  readonly node: string;
  /** What `ADD` fetches for the stage of uWebSockets.js. */
  readonly uwebsockets: string;
}

/** Carries binaries for Node 24, linked against the glibc of Debian 13. */
const uwebsockets = 'uwebsockets@3.0.6';

/** @param version of Node, as the Dockerfile has it */
export async function makeStandIns(work: string, version: string): Promise<StandIns> {
  const debian = join(work, 'debian');
  await debootstrap(debian);
  const node = join(work, 'node');
  await run('cp', ['-a', debian, node]);
  const binary = await fetchPackage(work, `node-linux-${process.arch}@${version}`);
  await cp(join(binary, 'bin', 'node'), join(node, 'usr/local/bin/node'));
  await addNpm(node);
  await addRegistryAccess(node);
  return { debian, node, uwebsockets: await fetchPackage(work, uwebsockets) };
}

async function debootstrap(root: string): Promise<void> {
  const program = await ensureDebian('/usr/sbin/debootstrap', ['debootstrap']);
  await run(program, ['--variant=minbase', 'trixie', root, ...(await ownMirror())]);
}

/** The mirror that this machine's own packages come from; debootstrap knows one by itself too. */
async function ownMirror(): Promise<string[]> {
  const list = await readFile('/etc/apt/sources.list.d/debian.sources', 'utf8').catch(() => '');
  return [...list.matchAll(/^URIs: (\S+)$/gm)].slice(0, 1).map(([, uri]) => uri!);
}

async function fetchPackage(work: string, name: string): Promise<string> {
  const into = await mkdtemp(join(work, 'package-'));
  await run('npm', ['pack', '--silent', '--pack-destination', into, name], { cwd: into });
  await run('sh', ['-c', 'tar xzf *.tgz && rm *.tgz'], { cwd: into });
  return join(into, 'package');
}

/** The image of Node brings npm; the one of this machine stands for it. */
async function addNpm(root: string): Promise<void> {
  const program = await realpath((await run('sh', ['-c', 'command -v npm'])).trim());
  const npm = '/usr/local/lib/node_modules/npm';
  await cp(dirname(dirname(program)), join(root, npm), { recursive: true, dereference: true });
  for (const name of ['npm', 'npx']) {
    await symlink(`${npm}/bin/${name}-cli.js`, join(root, 'usr/local/bin', name));
  }
}

/** Names and files that say how this machine reaches its registry; none of them stays in a file. */
const accessNames = /^(npm_config_\w+|(https?|no)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_FILE)$/i;

/** The part of this machine's environment that builds in the root of Node need. */
export function accessEnvironment(): Record<string, string> {
  const taken = Object.entries(process.env).filter(([name]) => accessNames.test(name));
  return Object.fromEntries(taken) as Record<string, string>;
}

async function addRegistryAccess(root: string): Promise<void> {
  const setting = async (key: string) => (await run('npm', ['config', 'get', key])).trim();
  const { NODE_EXTRA_CA_CERTS, SSL_CERT_FILE } = accessEnvironment();
  const files = [
    ...['/etc/resolv.conf', '/etc/hosts', await setting('globalconfig'), await setting('cafile')],
    ...[NODE_EXTRA_CA_CERTS ?? '', SSL_CERT_FILE ?? ''],
  ];
  for (const file of files.filter((one) => one.startsWith('/'))) await copyInto(root, file, file);
  await copyInto(root, await setting('userconfig'), '/root/.npmrc');
}

async function copyInto(root: string, file: string, as: string): Promise<void> {
  const target = join(root, as);
  await mkdir(dirname(target), { recursive: true });
  await rm(target, { force: true });
  await cp(file, target, { dereference: true }).catch((error: NodeJS.ErrnoException) => {
    // A configuration that names a file need not have it.
    if (error.code !== 'ENOENT') throw error;
  });
}
