import { execFile, spawnSync } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { guides } from '../../src/console/guides/all.ts';
import { blocksOf, idOf, inlineOf } from '../../src/console/parts/markdown.ts';
import type { Field } from '../../src/domain/nouns.ts';
import { TestSource, TestWeir } from '../support/test-weir.ts';

/** The commands of the guides, run as a reader runs them. */

const fields: readonly Field[] = [
  { name: 'month', role: 'period', grain: 'month' },
  { name: 'mrr', role: 'value', metric: 'mrr' },
  { name: 'plan', role: 'label' },
];

let weir: TestWeir;
beforeAll(async () => {
  weir = await TestWeir.start();
});
afterAll(() => weir?.stop());

/** The source that the first guide has its reader make. */
async function sourceOfGuide(delivery: 'push' | 'webhook'): Promise<TestSource> {
  const { directory } = weir.catalog;
  const { sourceId: other } = await weir.source();
  const { companyId } = (await directory.source(other))!;
  const known = (await directory.metrics(companyId)).some(({ key }) => key === 'mrr');
  const metric = { key: 'mrr', name: 'Recurring revenue', unit: 'EUR', labels: ['plan'] };
  if (!known) await directory.declareMetric(companyId, metric, Date.now());
  const sourceId = randomUUID();
  const { text, secret } = weir.newSecret();
  const made = { sourceId, companyId, name: 'guide', delivery, format: 'csv' } as const;
  await directory.createSource({ ...made, fields, savedBy: 'test', secret }, Date.now());
  const source = new TestSource(weir, sourceId);
  source.secret = text;
  return source;
}

interface Command {
  readonly language: string;
  readonly text: string;
}

/** Of a guide, but for the lines in which a reader fills in what only they have. */
function commandsOf(name: string): Command[] {
  const text = guides[name]!.text(weir.url);
  return [...text.matchAll(/^```(\w+)\n([\s\S]*?)\n```$/gm)]
    .map(([, language, text]) => ({ language: language!, text: text! }))
    .filter((command) => !/^export \w+="<.*>"$/m.test(command.text));
}

const programs: Record<string, readonly string[]> = {
  sh: ['sh', '-euc'],
  js: ['node', '--input-type=module', '-e'],
  python: ['python3', '-c'],
};

/** Not every machine has Python; a shell and Node are on all that run this. */
function isHere({ language }: Command): boolean {
  const needed = language === 'python' ? 'python3' : 'node';
  return spawnSync(needed, ['--version']).status === 0;
}

function run({ language, text }: Command, env: Record<string, string>): Promise<string> {
  const [program, ...args] = programs[language]!;
  return new Promise((resolve, reject) => {
    const options = { env: { PATH: process.env.PATH, ...env } };
    execFile(program!, [...args, text], options, (error, stdout, stderr) =>
      error ? reject(new Error(stderr, { cause: error })) : resolve(stdout),
    );
  });
}

async function allParsed(source: TestSource): Promise<void> {
  for (;;) {
    const list = await weir.catalog.deliveries.list(source.sourceId, { limit: 100 });
    if (list.every(({ status }) => status === 'parsed')) return;
    await sleep(50);
  }
}

describe('the commands', () => {
  test('of the first delivery push, ask and read', async () => {
    const source = await sourceOfGuide('push');
    const WEIR_KEY = (await source.withKey({ sandbox: true })).key;
    const [push, ask, read] = commandsOf('first-delivery');
    const receipt = await run(push!, { WEIR_KEY });
    expect(await run(push!, { WEIR_KEY })).toBe(receipt);
    await allParsed(source);
    const { artifact_id: ARTIFACT_ID, sandbox } = JSON.parse(receipt);
    expect(sandbox).toBe(true);
    const shown = JSON.parse(await run(ask!, { WEIR_KEY, ARTIFACT_ID }));
    expect(shown).toMatchObject({ artifact_id: ARTIFACT_ID, status: 'parsed' });
    const { samples } = JSON.parse(await run(read!, { WEIR_KEY }));
    expect(samples).toMatchObject([
      { metric: 'mrr', period_start: '2026-01-01', value: '10.50', labels: { plan: 'pro' } },
    ]);
  });

  test('of a correction leave the later value', async () => {
    const source = await sourceOfGuide('push');
    const WEIR_KEY = (await source.withKey()).key;
    const [correct, read] = commandsOf('corrections');
    await run(correct!, { WEIR_KEY });
    await allParsed(source);
    expect(await source.deliveries()).toHaveLength(2);
    const { samples } = JSON.parse(await run(read!, { WEIR_KEY }));
    expect(samples).toMatchObject([{ metric: 'mrr', value: '12.00' }]);
  });

  test('of a webhook are taken in every language', async () => {
    const source = await sourceOfGuide('webhook');
    const ADDRESS = `${weir.url}/v1/webhooks/${source.sourceId}`;
    const commands = commandsOf('signing');
    expect(commands.map(({ language }) => language)).toEqual(['sh', 'js', 'python']);
    for (const command of commands.filter(isHere)) {
      const receipt = JSON.parse(await run(command, { ADDRESS, SECRET: source.secret }));
      expect(receipt, command.language).toMatchObject({ status: 'queued' });
    }
    await allParsed(source);
  });
});

describe('the guides', () => {
  test.each(Object.keys(guides))('%s leads nowhere that is not there', (name) => {
    const links = blocksOf(guides[name]!.text('http://api.example'))
      .flatMap((block) => ('text' in block ? [block.text] : 'items' in block ? block.items : []))
      .flatMap(inlineOf)
      .flatMap((part) => (part.kind === 'link' ? [part.href] : []));
    const guide = Object.keys(guides).map((one) => `/guides/${one}`);
    const known = ['/metrics', '/sources/new', '/reference', ...guide];
    expect(links.filter((href) => !known.includes(href))).toEqual([]);
  });
});

describe('Markdown', () => {
  test('is read in blocks', () => {
    const text =
      '## One `two`\n\nA line\nand another\n\n1. one\n2. two\n   more\n\n| a | b |\n|---|---|\n' +
      '| 1 | |\n\n```sh\nx\n\ny\n```\nafter';
    expect(blocksOf(text)).toEqual([
      { kind: 'heading', level: 2, text: 'One `two`', id: 'one-two' },
      { kind: 'paragraph', text: 'A line and another' },
      { kind: 'list', ordered: true, items: ['one', 'two more'] },
      { kind: 'table', head: ['a', 'b'], rows: [['1', '']] },
      { kind: 'code', text: 'x\n\ny' },
      { kind: 'paragraph', text: 'after' },
    ]);
  });

  test('is read in lines, and never as HTML', () => {
    expect(inlineOf('a `b` **c** [d](/e) <i>')).toEqual([
      { kind: 'text', text: 'a ' },
      { kind: 'code', text: 'b' },
      { kind: 'text', text: ' ' },
      { kind: 'strong', text: 'c' },
      { kind: 'text', text: ' ' },
      { kind: 'link', text: 'd', href: '/e' },
      { kind: 'text', text: ' <i>' },
    ]);
    expect(idOf('Access keys!')).toBe('access-keys');
  });
});
