import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumOrSkip } from '../support/chromium.ts';
import { describeWith } from '../support/need.ts';
import type { TestSource } from '../support/test-weir.ts';
import {
  besideAPhone,
  expectGoodPage,
  type OpenedApp,
  openApp,
  type Person,
  settled,
  violations,
} from './support.ts';

/** Every page of the app, held to what all pages are held to. */

/** For everybody. */
const openPages = {
  'sign-in': '/sign-in',
  'invitation-over': '/invitation#none',
  reference: '/reference',
  guides: '/guides',
  'guide-first-delivery': '/guides/first-delivery',
  'guide-signing': '/guides/signing',
  'guide-corrections': '/guides/corrections',
  'guide-limits': '/guides/limits',
  'guide-errors': '/guides/errors',
};

/**
 * For who is signed in: `$S` is a source, `$A` a delivery with a rejected record, `$M` a month
 * that has a sample, `$W` a webhook source.
 */
const signedInPages = {
  overview: '/',
  sources: '/sources',
  'new-source': '/sources/new',
  metrics: '/metrics',
  'source-deliveries': '/sources/$S/deliveries',
  'source-delivery': '/sources/$S/deliveries/$A',
  'source-samples': '/sources/$S/samples',
  'source-samples-sandbox': '/sources/$S/samples?sandbox=true',
  'source-trace': '/sources/$S/samples/trace?metric=mrr&period=$M-01&labels={"plan":"pro"}',
  'source-shape': '/sources/$S/shape',
  'source-shape-versions': '/sources/$S/shape/versions',
  'source-developer': '/sources/$S/developer',
  'source-developer-webhook': '/sources/$W/developer',
  nowhere: '/nowhere',
};

describeWith('the pages', await chromiumOrSkip(), (chromium) => {
  let opened: OpenedApp;
  let visitor: Awaited<ReturnType<OpenedApp['visit']>>;
  let person: Person;
  const places: Record<string, string> = {};
  beforeAll(async () => {
    opened = await openApp(chromium);
    visitor = await opened.visit();
    person = await opened.signIn();
    const source = await opened.source('document', 'Billing');
    places.$S = source.sourceId;
    places.$A = await fill(source);
    places.$M = monthsAgo(0);
    places.$W = (await opened.source('webhook', 'Shop events')).sourceId;
  });
  afterAll(() => opened?.close());

  test.each(Object.entries(openPages))('%s is good for everybody', async (name, path) => {
    await visitor.page.goto(opened.url + path);
    await settled(visitor.page);
    await expectGoodPage(visitor.page, name);
  });

  test.each(Object.entries(signedInPages))(
    '%s is good for who is signed in',
    async (name, path) => {
      const { page } = person;
      await page.goto(opened.url + path.replaceAll(/\$\w/g, (place) => places[place]!));
      await settled(page);
      await expectGoodPage(page, name);
    },
  );

  test('what is bad is found', async () => {
    const { page } = person;
    await page.goto(`${opened.url}/guides`);
    await settled(page);
    const main = page.locator('main');
    await main.evaluate((one) => one.append(one.ownerDocument.createElement('button')));
    expect(await violations(page)).toEqual([expect.stringContaining('button-name')]);
    expect(await besideAPhone(page)).toEqual([]);
    await main.evaluate((one) => one.style.setProperty('min-width', '500px'));
    expect(await besideAPhone(page)).toContainEqual(expect.stringContaining('MAIN'));
    expect(opened.problems).toEqual([]);
    await main.evaluate((one) => one.setAttribute('style', 'color: red'));
    await page.evaluate("fetch('https://elsewhere.example/').catch(() => 0)");
    const found = opened.problems.splice(0);
    expect(found).toContainEqual(expect.stringMatching(/inline style violates/));
    expect(found).toContainEqual(expect.stringMatching(/elsewhere\.example/));
  });

  test('a dialog is good too', async () => {
    const { page } = person;
    await page.goto(`${opened.url}/sources/${places.$S}/developer`);
    await page
      .getByRole('button', { name: /^Rotate key/ })
      .first()
      .click();
    await page.getByRole('dialog').waitFor();
    await expectGoodPage(page, 'rotate-key');
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  test('the title follows the page, and the first key leads past the navigation', async () => {
    const { page } = person;
    await page.goto(`${opened.url}/sources/${places.$S}/shape`);
    await expect.poll(() => page.title()).toBe('Shape · Billing · weir');
    await page.getByRole('link', { name: 'Guides', exact: true }).click();
    await expect.poll(() => page.title()).toBe('Guides · weir');
    await page.reload();
    await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    expect(await page.evaluate('document.activeElement.id')).toBe('content');
  });

  test('who goes on by a link that vanishes is at the beginning of the next page', async () => {
    const { page } = person;
    const focused = () => page.locator(':focus').evaluate((one) => one.id || one.textContent);
    await page.goto(`${opened.url}/sources`);
    await page.getByRole('link', { name: 'New source' }).press('Enter');
    await page.getByRole('heading', { level: 1, name: 'New source' }).waitFor();
    await expect.poll(focused).toBe('content');
    await page.keyboard.press('Tab');
    expect(await focused()).toBe('Sources');
    // The navigation's links stay, and so does who is on one.
    const metrics = page.getByRole('navigation', { name: 'Main' }).getByText('Metrics');
    await metrics.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Metrics' }).waitFor();
    await settled(page);
    expect(await focused()).toBe('Metrics');
  });

  test('the first load is less than 200 KB', async () => {
    const { page, context } = await opened.visit();
    const sizes: number[] = [];
    page.on('requestfinished', async (request) => {
      const sized = await request.sizes();
      sizes.push(sized.responseBodySize + sized.responseHeadersSize);
    });
    await context.addCookies(await person.context.cookies());
    await page.goto(opened.url);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await settled(page);
    await context.close();
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
  });
});

/** Two years of a metric, a sandbox delivery, and one with a record that is rejected. */
async function fill(source: TestSource): Promise<string> {
  const { deliveries } = source.weir.catalog;
  const months = Array.from({ length: 24 }, (_, i) => monthsAgo(i));
  const row = (month: string, i: number) => `${month},${1_000 - 17 * i}.50,pro\n`;
  const document = { 'Content-Type': 'application/octet-stream' };
  const header = 'month,mrr,plan\n';
  const send = (name: string, csv: string, sender = source.sender) =>
    sender.ingest(csv, { ...document, 'Idempotency-Key': name });
  await send('two-years', header + months.map(row).join(''));
  await send('test', header + row(months[0]!, 3), await source.withKey({ sandbox: true }));
  const answer = await send('with-a-mistake', `${header}${row(months[0]!, 1)}2026-13,1,pro\n`);
  const { artifact_id } = JSON.parse(answer.text) as { artifact_id: string };
  for (;;) {
    const list = await deliveries.list(source.sourceId, { limit: 10 });
    if (list.every(({ status }) => status === 'parsed')) return artifact_id;
    await sleep(50);
  }
}

/** `YYYY-MM` */
function monthsAgo(count: number): string {
  const day = new Date();
  day.setUTCDate(1);
  day.setUTCMonth(day.getUTCMonth() - count);
  return day.toISOString().slice(0, 7);
}
