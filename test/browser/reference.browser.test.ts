import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumOrSkip } from '../support/chromium.ts';
import { describeWith } from '../support/need.ts';
import { type OpenedApp, openApp, settled } from './support.ts';

/** Sending from the API reference, as a reader does (specification, "Interactive reference"). */

describeWith('the reference', await chromiumOrSkip(), (chromium) => {
  let opened: OpenedApp;
  let page: Page;
  beforeAll(async () => {
    opened = await openApp(chromium);
    ({ page } = await opened.visit());
  });
  afterAll(() => opened?.close());

  const reference = async (): Promise<(name: string) => Locator> => {
    await page.goto(`${opened.url}/reference`);
    await settled(page);
    return (name) => page.getByRole('form', { name });
  };
  const body = JSON.stringify({
    idempotency_key: 'from-the-reference',
    shape_version: 1,
    payload: { month: '2026-01', mrr: '10.50', plan: 'pro' },
  });

  test('pushes with a sandbox key, asks what became of it and reads it', async () => {
    const source = await opened.source();
    const { key } = await source.withKey({ sandbox: true });
    const form = await reference();
    const push = form('Send: Push one delivery');
    await push.getByLabel('Access key').fill(key);
    await push.getByLabel('Body').fill(body);
    await push.getByRole('button', { name: 'Send' }).click();
    await push.getByText('"status": "queued"').waitFor();
    await push.getByText('ratelimit-remaining').waitFor();
    const [artifactId] = await source.deliveries();
    const ask = form('Send: Ask what became of a delivery');
    // One key serves all forms.
    expect(await ask.getByLabel('Access key').inputValue()).toBe(key);
    await ask.getByLabel('artifact_id').fill(artifactId!);
    const answer = async () => {
      await ask.getByRole('button', { name: 'Send' }).click();
      await ask.getByRole('button', { name: 'Copy the answer' }).waitFor();
      return await ask.locator('pre').first().textContent();
    };
    await expect.poll(answer, { timeout: 10_000 }).toContain('"status": "parsed"');
    const read = form("Send: Read the source's samples over a window");
    await read.getByLabel('from').fill('2026-01-01');
    await read.getByRole('button', { name: 'Send' }).click();
    await read.getByText('"value": "10.50"').waitFor();
  });

  test('shows that a production key is refused here, and what to do', async () => {
    const source = await opened.source();
    const form = (await reference())('Send: Push one delivery');
    await form.getByLabel('Access key').fill(source.sender.key);
    await form.getByLabel('Body').fill(body);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"code": "docs_origin_needs_sandbox"').waitFor();
    await form.getByText('From the reference site use a sandbox key.').waitFor();
    expect(await source.deliveries()).toEqual([]);
  });

  test('signs a webhook in the page', async () => {
    const source = await opened.source('webhook');
    const form = (await reference())('Send: Deliver one webhook');
    await form.getByLabel('Signing secret').fill(source.secret);
    await form.getByLabel('source_id').fill(source.sourceId);
    await form.getByRole('button', { name: 'Send' }).click();
    await form.getByText('"status": "queued"').waitFor();
    expect(await source.deliveries()).toHaveLength(1);
  });

  test('keeps no key after a reload, and nothing in the browser', async () => {
    const form = await reference();
    const key = form('Send: Push one delivery').getByLabel('Access key');
    expect(await key.inputValue()).toBe('');
    const kept = await page.evaluate(
      'JSON.stringify([{ ...localStorage }, { ...sessionStorage }])',
    );
    expect(kept).not.toMatch(/wk_|ws_|whsec/);
  });

  test('leads to an operation by its address', async () => {
    await page.goto(`${opened.url}/reference#deliverWebhook`);
    const heading = page.getByRole('heading', { name: 'Deliver one webhook' });
    await expect
      .poll(async () => Math.abs((await heading.boundingBox())?.y ?? 1_000))
      .toBeLessThan(100);
  });
});
