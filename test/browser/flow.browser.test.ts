import { join } from 'node:path';
import Database from 'better-sqlite3';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumOrSkip } from '../support/chromium.ts';
import { describeWith } from '../support/need.ts';
import { signature } from '../support/webhook.ts';
import { expectGoodPage, type OpenedApp, openApp, type Person, settled } from './support.ts';

/** What people come to the app for, from the first page to the record behind a number. */

describeWith('the app', await chromiumOrSkip(), (chromium) => {
  let app: OpenedApp;
  let manager: Person;
  beforeAll(async () => {
    app = await openApp(chromium);
    manager = await app.signIn();
  }, 120_000);
  afterAll(() => app?.close());

  test('a number is followed from its push to its record, over a corrected shape', async () => {
    const { page } = manager;
    await declareMetric(page, { key: 'mrr', name: 'Recurring revenue', unit: 'EUR' });
    await createSource(page, { name: 'Billing', way: 'document', metric: 'mrr' });
    await page.getByRole('button', { name: 'Make key' }).click();
    const key = await shownOnce(page, /^wk_live_/);
    await expectGoodPage(page, 'developer-key-shown-once');
    await page.reload();
    await page.getByRole('region', { name: 'Access keys' }).getByText('active').waitFor();
    expect(await page.content()).not.toContain(key);

    // The page is open before anything comes: what comes must appear by itself.
    await toTab(page, 'Deliveries');
    await page.getByText('Nothing has come in yet').waitFor();
    expect(await push(app, key, 'day,amount\n2026-01-15,100.10\n2026-02,205.20\n')).toBe(202);
    const row = page.getByRole('row').filter({ hasText: 'january' });
    await row.getByText('parsed').waitFor();

    await row.getByRole('link', { name: 'january' }).click();
    const rejected = page.getByRole('article', { name: 'Record 2' });
    await rejected.getByText('line 3').waitFor();
    await rejected.getByText('period_grain_mismatch').waitFor();
    await rejected.getByText('2026-02').waitFor();

    await correctGrain(page);
    await toTab(page, 'Deliveries');
    await page.getByRole('link', { name: 'january' }).click();
    await parseAgain(page);
    await page.getByText('2 = 2 parsed + 0 rejected').waitFor();

    await toTab(page, 'Samples');
    await page.getByRole('img', { name: /mrr/ }).waitFor();
    await page.getByRole('link', { name: '205.20' }).first().click();
    const record = page.getByRole('region', { name: 'The record', exact: true });
    await record.getByText('line 3').first().waitFor();
    await record.getByRole('cell', { name: '205.20' }).waitFor();
    await page.getByRole('heading', { name: 'Every value it had' }).waitFor();
  }, 90_000);

  test('a secret is rotated, and deliveries with both are taken', async () => {
    const { page } = manager;
    await declareMetric(page, { key: 'visits', name: 'Visits', unit: 'people' });
    await createSource(page, { name: 'Shop', way: 'webhook', metric: 'visits' });
    const first = await shownOnce(page, /^whsec_/);
    await page.getByRole('button', { name: 'I have kept it' }).click();
    await page.waitForURL(/\/developer$/);
    const sourceId = /sources\/([0-9a-f-]{36})/.exec(page.url())![1]!;

    await page.getByRole('button', { name: 'Rotate secret' }).click();
    await page.getByRole('button', { name: 'Make the new secret' }).click();
    const second = await shownOnce(page, /^whsec_/);
    expect(second).not.toBe(first);
    await expectGoodPage(page, 'developer-secret');
    await page.reload();
    const secrets = page.getByRole('region', { name: 'Signing secrets' });
    await secrets.getByText('ending').waitFor();
    expect(await page.content()).not.toContain(second);

    expect(await deliver(app, sourceId, first, 'one')).toBe(202);
    expect(await deliver(app, sourceId, second, 'two')).toBe(202);
    expect(await deliver(app, sourceId, `${second}x`, 'three')).toBe(404);
    await toTab(page, 'Deliveries');
    await page.getByRole('row').filter({ hasText: 'one' }).waitFor();
    await page.getByRole('row').filter({ hasText: 'two' }).waitFor();
  }, 60_000);

  test('a sign-in that is too old is asked for in place, and what was typed stays', async () => {
    const { page } = manager;
    age(app);
    await toTab(page, 'Developer');
    await page.getByLabel('Days until it expires').fill('30');
    await page.getByRole('button', { name: 'Make key' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('alert').waitFor();
    expect(await page.getByLabel('Days until it expires').inputValue()).toBe('30');
    await page.getByRole('button', { name: 'Make key' }).click();
    await dialog.waitFor();
    await dialog.getByRole('button', { name: /passkey/i }).click();
    expect(await shownOnce(page, /^wk_live_/)).toMatch(/^wk_live_/);
  }, 60_000);

  test('who may only read sees nothing that changes, and cannot do it either', async () => {
    const reader = await app.signIn({ permissions: 'sources.read' });
    const { page } = reader;
    await page.getByRole('link', { name: 'Sources', exact: true }).click();
    await page.getByRole('link', { name: 'Billing' }).click();
    const changing = /make|rotate|revoke|save|parse again|download|create|declare|rename|dry run/i;
    for (const tab of ['Deliveries', 'Samples', 'Shape', 'Developer']) {
      await toTab(page, tab);
      await settled(page);
      expect(await page.getByRole('button', { name: changing }).allTextContents()).toEqual([]);
    }
    await page.goto(`${app.url}/sources/new`);
    await page.getByText('needs the permission sources.manage').waitFor();
    const answer = await page.request.get(`${app.url}/app/api/sources`);
    const { sources } = (await answer.json()) as { sources: { source_id: string }[] };
    const status = await page.evaluate(async (path) => {
      const body = JSON.stringify({ scope: 'read', sandbox: false, expires_days: 1 });
      return (await fetch(path, { method: 'POST', body })).status;
    }, `/app/api/sources/${sources[0]!.source_id}/keys`);
    expect(status).toBe(403);
    await reader.context.close();
  }, 60_000);
});

async function declareMetric(page: Page, metric: { key: string; name: string; unit: string }) {
  await page.getByRole('link', { name: 'Metrics', exact: true }).click();
  await page.getByRole('textbox', { name: 'Key' }).fill(metric.key);
  await page.getByRole('textbox', { name: 'Name' }).fill(metric.name);
  await page.getByRole('textbox', { name: 'Unit' }).fill(metric.unit);
  await page.getByRole('button', { name: 'Declare' }).click();
  await page.getByText(`The metric ${metric.key} is declared`).waitFor();
}

async function toTab(page: Page, name: string): Promise<void> {
  const tabs = page.getByRole('navigation', { name: 'Source', exact: true });
  await tabs.getByRole('link', { name }).click();
}

/** A day and an amount. */
async function createSource(page: Page, source: { name: string; way: string; metric: string }) {
  const { name, way, metric } = source;
  await page.getByRole('link', { name: 'Sources', exact: true }).click();
  await page.getByRole('link', { name: 'New source' }).click();
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByRole('combobox', { name: 'Delivery way' }).selectOption(way);
  await page.getByRole('combobox', { name: 'Metric', exact: true }).selectOption(metric);
  await page.getByRole('button', { name: 'Create source' }).click();
}

/** The key or secret that a page shows this once. */
async function shownOnce(page: Page, form: RegExp): Promise<string> {
  const shown = page.getByRole('status').locator('code').filter({ hasText: form });
  return (await shown.textContent())!;
}

/** A CSV document. @returns the status of the answer */
async function push({ weir }: OpenedApp, key: string, body: string): Promise<number> {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/octet-stream',
    'Idempotency-Key': 'january',
    'X-Service-Shape-Version': '1',
  };
  return (await fetch(`${weir.url}/v1/ingest`, { method: 'POST', headers, body })).status;
}

/** A signed webhook. @returns the status of the answer */
async function deliver({ weir }: OpenedApp, sourceId: string, secret: string, id: string) {
  const body = JSON.stringify({ day: '2026-01-15', amount: id === 'one' ? '1' : '2' });
  const time = Math.floor(Date.now() / 1_000);
  const headers = {
    'Content-Type': 'application/json',
    'Service-Signature': `t=${time},v1=${signature(secret, time, id, body)}`,
    'Service-Delivery-Id': id,
  };
  const url = `${weir.url}/v1/webhooks/${sourceId}`;
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

/** Saves the shape with months instead of days, after a dry run on what is stored. */
async function correctGrain(page: Page): Promise<void> {
  await toTab(page, 'Shape');
  await page.getByRole('combobox', { name: 'Grain' }).selectOption('month');
  await page.getByRole('button', { name: 'Dry run' }).click();
  await page.getByRole('region', { name: 'Dry run' }).getByRole('row').nth(1).waitFor();
  await expectGoodPage(page, 'shape-dry-run');
  await page.getByRole('button', { name: 'Save as version 2' }).click();
  await page.getByText('Version 2 is saved').waitFor();
  await page.getByRole('link', { name: 'Versions side by side' }).click();
  await page.getByText('month').first().waitFor();
  await expectGoodPage(page, 'shape-versions');
}

/** Under the current version, after a look at what would change. */
async function parseAgain(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Parse again…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('combobox', { name: 'Shape version' }).selectOption('2');
  await dialog.getByRole('button', { name: 'Show what would change' }).click();
  await dialog.getByText('2 of 2 records would be good').waitFor();
  await expectGoodPage(page, 'reparse');
  await dialog.getByRole('button', { name: 'Parse again under version 2' }).click();
  await dialog.waitFor({ state: 'detached' });
}

/** Lets six minutes pass since everybody's last passkey check. */
function age({ weir }: OpenedApp): void {
  const catalog = new Database(join(weir.running.place.dataDir, 'catalog.db'));
  catalog.prepare('UPDATE sessions SET signed_in_at = signed_in_at - 360000').run();
  catalog.close();
}
