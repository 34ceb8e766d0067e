/**
 * `.ci/nightly`: the Dockerfile's steps by hand in a Debian 13 root, with the Node of the image and
 * a uWebSockets.js for it, then a first delivery through each of the two images. Root is needed.
 */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dockerfile } from '../dockerfile.ts';
import { checkDelivery, checkDemo, checkNode, type Node, startNode } from './checks.ts';
import { buildImages, type Image } from './image.ts';
import { run } from './run.ts';
import { makeStandIns } from './stand-ins.ts';
import { runSuites } from './suites.ts';

const context = fileURLToPath(new URL('../../..', import.meta.url));

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const began = performance.now();
  console.log(`== ${what}`);
  const result = await work();
  console.log(`== ${what}: ${((performance.now() - began) / 1_000).toFixed(0)} s`);
  return result;
}

async function main(work: string): Promise<void> {
  const stages = dockerfile();
  const node = stages.find(({ name }) => name === 'build')!.from;
  const version = /^node:([0-9.]+)-/.exec(node)?.[1];
  if (version === undefined) throw new Error(`the image ${node} names no version of Node`);
  const standIns = await timed('Debian, Node and uWebSockets.js', () =>
    makeStandIns(work, version),
  );
  const options = { stages, standIns, context, work };
  const [embedded, weir] = await timed('the steps of the Dockerfile', () =>
    buildImages(options, ['embedded', 'weir']),
  );
  const debian = await megabytes(standIns.debian);
  for (const image of [embedded!, weir!]) {
    const own = (await megabytes(image.root)) - debian;
    console.log(`   ${image.name}: ${own} MB beyond Debian's own ${debian}`);
  }
  await timed('a delivery through the image with its own engine', () => alone(embedded!, work));
  await timed('a delivery through the image without one', () => apart(embedded!, weir!, work));
  await timed('a demo deployment', () => demo(embedded!, work));
  await timed('suites on the Node of the image', () => runSuites(standIns, work, context));
}

async function megabytes(root: string): Promise<number> {
  const told = await run('du', ['-sm', '--apparent-size', root]);
  return Number.parseInt(told, 10);
}

async function alone(image: Image, work: string): Promise<void> {
  const node = await startNode(image, join(work, 'data-alone'), {});
  await through(node, async () => {
    await checkNode(node);
    await checkDelivery(node);
  });
}

async function demo(image: Image, work: string): Promise<void> {
  const node = await startNode(image, join(work, 'data-demo'), { env: { WEIR_DEMO: '1' } });
  await through(node, () => checkDemo(node));
}

/** The engine of one image is the ClickHouse server of the other, which is two processes. */
async function apart(embedded: Image, weir: Image, work: string): Promise<void> {
  const data = join(work, 'data-engine');
  const engine = await startNode(embedded, data, { args: ['engine'] });
  await through(engine, async () => {
    const { password } = JSON.parse(await readFile(join(data, 'engine.json'), 'utf8'));
    const url = `http://weir:${password}@${engine.addresses.api}/weir`;
    const secret = join(work, 'data-apart', 'clickhouse_url');
    await mkdir(join(work, 'data-apart'));
    await writeFile(secret, `${url}\n`);
    const env = { WEIR_CLICKHOUSE_URL_FILE: '/data/clickhouse_url' };
    const args = ['serve', '--processes', '2'];
    const node = await startNode(weir, join(work, 'data-apart'), { env, args });
    await through(node, () => checkDelivery(node));
  });
}

/** Ends the container whatever happens, and shows what it wrote when something went wrong. */
async function through(node: Node, work: () => Promise<void>): Promise<void> {
  try {
    await work();
    const { code, ms } = await node.container.stop();
    if (code !== 0) throw new Error(`the container ended with ${code}`);
    console.log(`   ended with 0 after ${ms.toFixed(0)} ms`);
  } catch (error) {
    console.error(node.container.said().slice(-8_000));
    throw error;
  } finally {
    node.container.kill();
  }
}

const work = await mkdtemp(join(tmpdir(), 'weir-nightly-'));
try {
  await main(work);
} finally {
  await rm(work, { recursive: true, force: true });
}
