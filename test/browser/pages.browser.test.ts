import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumOrSkip } from '../support/chromium.ts';
import { describeWith } from '../support/need.ts';
import { expectGoodPage, type OpenedApp, openApp, settled } from './support.ts';

/** Every page of the app, held to what all pages are held to. */

/** For everybody. */
const openPages: Record<string, string> = {
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

describeWith('the pages', await chromiumOrSkip(), (chromium) => {
  let opened: OpenedApp;
  beforeAll(async () => {
    opened = await openApp(chromium);
  });
  afterAll(() => opened?.close());

  test.each(Object.entries(openPages))('%s is good for everybody', async (name, path) => {
    const { page, context } = await opened.visit();
    await page.goto(opened.url + path);
    await settled(page);
    await expectGoodPage(page, name);
    await context.close();
  });

  test('the first load is less than 200 KB', async () => {
    const { page, context } = await opened.visit();
    const sizes: number[] = [];
    page.on('requestfinished', async (request) => {
      const sized = await request.sizes();
      sizes.push(sized.responseBodySize + sized.responseHeadersSize);
    });
    await page.goto(opened.url);
    await settled(page);
    await context.close();
    expect(sizes.length).toBeGreaterThan(3);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(200_000);
  });
});
