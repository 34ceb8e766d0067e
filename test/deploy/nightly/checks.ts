import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { demoKey } from '../../../src/domain/keys.ts';
import { freePort } from '../../support/server-process.ts';
import { type Container, startContainer } from './container.ts';
import type { Image } from './image.ts';

/** A running container of weir. */
export interface Node {
  readonly container: Container;
  readonly image: Image;
  readonly data: string;
  /** As this machine reaches it: the network is shared. */
  readonly addresses: { readonly api: string; readonly app: string; readonly ops: string };
}

/** Starts the service, or with `engine` its engine alone, whose address is `addresses.api` then. */
export async function startNode(
  image: Image,
  data: string,
  options: { env?: Record<string, string>; args?: readonly string[] },
): Promise<Node> {
  const at = async () => `127.0.0.1:${await freePort()}`;
  const addresses = { api: await at(), app: await at(), ops: await at() };
  const env = {
    ...{ WEIR_LISTEN: addresses.api, WEIR_APP_LISTEN: addresses.app },
    ...{ WEIR_OPS_LISTEN: addresses.ops, ...options.env },
  };
  const { args = image.config.command } = options;
  const isEngine = args[0] === 'engine';
  const all = isEngine ? [...args, '--listen', addresses.api] : args;
  const container = await startContainer(image, { data, env, args: all });
  const ready = isEngine ? `http://${addresses.api}/ping` : `http://${addresses.ops}/readyz`;
  for (const deadline = Date.now() + 60_000; !(await answers(ready)); await sleep(100)) {
    if (Date.now() < deadline) continue;
    container.kill();
    throw new Error(`the container was not ready within 60 s:\n${container.said()}`);
  }
  return { container, image, data, addresses };
}

function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    (answer) => answer.ok,
    () => false,
  );
}

/** What the image promises besides the service: its user, its root, its health, its pages. */
export async function checkNode({ container, image, addresses }: Node): Promise<void> {
  const status = await readFile(`/proc/${container.pid}/status`, 'latin1');
  const [uid = ''] = image.config.user.split(':');
  assert.match(status, new RegExp(`^Uid:\\s+${uid}\\s+${uid}\\s+${uid}\\s+${uid}$`, 'm'));
  assert.match(status, /^CapBnd:\s+0+$/m);
  await assert.rejects(container.exec(['touch', '/app/written']), /Read-only file system/);
  const node = await container.exec(['node', '--version']);
  console.log(`   Node ${node.trim()}, ${(await readFile('/proc/version', 'utf8')).slice(0, 30)}`);
  await assert.rejects(container.exec(['npm', '--version']), /No such file/);
  // As it stands it asks for 8082; here the port is another.
  const port = addresses.ops.split(':')[1]!;
  const healthcheck = image.config.healthcheck.map((word) => word.replace('8082', port));
  await container.exec(healthcheck);
  const wrong = image.config.healthcheck.map((word) => word.replace('8082', '9'));
  await assert.rejects(container.exec(wrong), 'a health check without a service must fail');
  const page = await fetch(`http://${addresses.app}/`);
  assert.equal(page.status, 200);
  assert.match(await page.text(), /<script type="module"/);
}

/** A first delivery, as the README has it: made by the command line inside, pushed from outside. */
export async function checkDelivery({ container, data, addresses }: Node): Promise<void> {
  const weir = async (...args: string[]) =>
    JSON.parse(await container.exec(['/app/src/start/weir', ...args, '--json']));
  const shape = {
    fields: [
      { name: 'month', role: 'period', grain: 'month' },
      { name: 'mrr', role: 'value', metric: 'mrr' },
    ],
  };
  await writeFile(join(data, 'shape.json'), JSON.stringify(shape));
  const at = ['--name', 'Acme', '--timezone', 'Europe/Berlin'];
  const { company_id: company } = await weir('company', 'create', ...at);
  const metric = ['--key', 'mrr', '--name', 'Revenue', '--unit', 'EUR'];
  await weir('metric', 'declare', '--company', company, ...metric);
  const how = ['--name', 'billing', '--delivery', 'push', '--shape', '/data/shape.json'];
  const { source_id: source } = await weir('source', 'create', '--company', company, ...how);
  const { access_key: key } = await weir('key', 'create', source, '--scope', 'read_write');
  const authorization = { Authorization: `Bearer ${key}` };
  const month = new Date().toISOString().slice(0, 7);
  const receipt = await fetch(`http://${addresses.api}/v1/ingest`, {
    method: 'POST',
    headers: { ...authorization, 'Content-Type': 'application/json' },
    body: JSON.stringify({
      ...{ idempotency_key: 'one', shape_version: 1, payload: { month, mrr: '10.50' } },
    }),
  });
  assert.equal(receipt.status, 202, await receipt.text());
  for (const deadline = Date.now() + 20_000; ; await sleep(500)) {
    const answer = await fetch(`http://${addresses.api}/v1/samples`, { headers: authorization });
    const { samples } = (await answer.json()) as { samples: { value: string }[] };
    if (samples.length === 0 && Date.now() < deadline) continue;
    assert.deepEqual(
      samples.map(({ value }) => value),
      ['10.50'],
    );
    return;
  }
}

/** The published key of demo deployments reads what they came with. */
export async function checkDemo({ addresses }: Node): Promise<void> {
  const headers = { Authorization: `Bearer ${demoKey}` };
  const answer = await fetch(`http://${addresses.api}/v1/samples`, { headers });
  const { samples } = (await answer.json()) as { samples: unknown[] };
  assert.ok(samples.length > 1_000, `a demo deployment has ${samples.length} samples`);
}
