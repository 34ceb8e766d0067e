import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { demoKey } from '../../src/domain/keys.ts';
import { ask } from '../support/ask.ts';
import { chromiumOrSkip } from '../support/chromium.ts';
import { describeWith } from '../support/need.ts';
import { expectGoodPage, type OpenedApp, openApp, settled } from './support.ts';

/** A demo deployment in the app: everything can be looked at by anybody, nothing changed. */

describeWith('a demo deployment', await chromiumOrSkip(), (chromium) => {
  let opened: OpenedApp;
  let page: Page;
  beforeAll(async () => {
    opened = await openApp(chromium, { WEIR_DEMO: '1' });
    ({ page } = await opened.visit());
  });
  afterAll(() => opened?.close());

  test('shows its source to who is not signed in, and says what it is', async () => {
    await page.goto(`${opened.url}/sources`);
    await page.getByText('This is a demo deployment').waitFor();
    await page.getByRole('link', { name: /employment/i }).click();
    await page.getByRole('link', { name: 'Samples' }).click();
    await settled(page);
    await expectGoodPage(page, 'demo-samples');
  });

  test('offers nothing that would change it', async () => {
    await page.goto(`${opened.url}/sources`);
    await settled(page);
    const offers = page.getByRole('link', { name: /new source/i });
    expect(await offers.count()).toBe(0);
    await page.getByRole('link', { name: /employment/i }).click();
    await page.getByRole('link', { name: 'Developer' }).click();
    await settled(page);
    const changes = page.getByRole('button', { name: /make|rotate|revoke|save/i });
    expect(await changes.allTextContents()).toEqual([]);
  });

  test('refuses every change, whatever asks for it', async () => {
    const origin = { Origin: opened.url, 'Content-Type': 'application/json' };
    for (const path of ['/app/api/sources', '/app/api/sign-in/options']) {
      const answer = await ask(opened.url + path, { method: 'POST', headers: origin, body: '{}' });
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([403, 'demo_read_only']);
    }
  });

  test('has its key where the reference takes it, and reads the fixtures with it', async () => {
    await page.goto(`${opened.url}/reference`);
    await settled(page);
    await page.getByText(demoKey).first().waitFor();
    const form = page.getByRole('form', { name: "Send: Read the source's samples over a window" });
    await form.getByLabel('Access key').fill(demoKey);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"metric": "nonfarm"').first().waitFor();
    const push = page.getByRole('form', { name: 'Send: Push one delivery' });
    await push.getByRole('button', { name: 'Send' }).click();
    await push.getByText('"code": "insufficient_scope"').waitFor();
  });
});
