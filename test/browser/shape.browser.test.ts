import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumOrSkip } from '../support/chromium.ts';
import { describeWith } from '../support/need.ts';
import type { TestSource } from '../support/test-weir.ts';
import { expectGoodPage, type OpenedApp, openApp } from './support.ts';

describeWith('the shape of a source, as it is edited', await chromiumOrSkip(), (chromium) => {
  let app: OpenedApp;
  let source: TestSource;
  let page: Page;

  beforeAll(async () => {
    app = await openApp(chromium);
    page = (await app.signIn()).page;
    source = await app.source();
  }, 120_000);
  afterAll(() => app?.close());

  const open = (rest = '') => page.goto(`${app.url}/sources/${source.sourceId}/shape${rest}`);
  const focused = () => page.locator(':focus').getAttribute('id');
  const save = () => page.getByRole('button', { name: /^Save as version/ });

  async function declareCash(): Promise<void> {
    const cash = { key: 'cash', name: 'Cash', unit: 'EUR', labels: [] };
    await app.weir.catalog.directory.declareMetric(await app.companyId(), cash, Date.now());
  }

  test('a field is moved by keys, and the next press moves it on', async () => {
    await open();
    await page.getByRole('button', { name: 'Move plan up' }).focus();
    await page.keyboard.press('Enter');
    await page.keyboard.press('Enter');
    expect(await page.getByLabel('Field 1').inputValue()).toBe('plan');
    expect(await page.getByLabel('Field 3').inputValue()).toBe('mrr');
  });

  test('a problem stands at its field, and who saves all the same is led there', async () => {
    await open();
    await page.getByRole('button', { name: 'Remove plan' }).click();
    const field = page.getByRole('listitem').filter({ has: page.getByLabel('Field 2') });
    await field.getByText('The metric\'s label "plan" has no label field.').waitFor();
    await save().click();
    const id = await page.getByLabel('Field 2').getAttribute('id');
    await expect.poll(focused).toBe(id);
    expect(await app.weir.catalog.directory.source(source.sourceId)).toMatchObject({
      shapeVersion: 1,
    });
  });

  test('what was typed stays when another version was saved in the meantime', async () => {
    await open();
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Mine');
    const { directory } = app.weir.catalog;
    await directory.saveSource(source.sourceId, { name: 'Theirs', savedBy: 'bob' }, Date.now());
    await save().click();
    await page.getByText('Version 2 was saved in the meantime.').waitFor();
    expect(await name.inputValue()).toBe('Mine');
    await page.getByRole('button', { name: 'Show that version' }).click();
    await page.getByRole('button', { name: 'Save as version 3' }).waitFor();
    expect(await name.inputValue()).toBe('Theirs');
  });

  test('who goes away from what is not saved is asked first', async () => {
    await open();
    const answers: boolean[] = [false, true];
    page.on('dialog', (asked) => (answers.shift() ? asked.accept() : asked.dismiss()));
    const name = page.getByLabel('Name', { exact: true });
    await name.fill('Renamed');
    const away = page.getByRole('navigation', { name: 'Main' }).getByText('Metrics');
    await away.click();
    expect(await name.inputValue()).toBe('Renamed');
    await away.click();
    await page.getByRole('heading', { level: 1, name: 'Metrics' }).waitFor();
    expect(answers).toEqual([]);
    page.removeAllListeners('dialog');
  });

  test('the only metric is chosen in a new source, and where there are two none is', async () => {
    const chosen = async () => {
      await page.goto(`${app.url}/sources/new`);
      return page.getByRole('combobox', { name: 'Metric', exact: true }).inputValue();
    };
    expect(await chosen()).toBe('mrr');
    await declareCash();
    expect(await chosen()).toBe('');
  });

  test('what a save withdraws is told before it is done', async () => {
    const { sender } = source;
    const record = { month: '2026-01', mrr: '10.50', plan: 'pro' };
    await sender.settled(await sender.push(record));
    await declareCash();
    await open();
    await page.getByRole('combobox', { name: 'Metric' }).selectOption('cash');
    await page.getByRole('combobox', { name: 'Role' }).nth(2).selectOption('');
    await page.getByRole('checkbox', { name: 'Personal' }).check();
    await page.getByText('plan becomes personal').waitFor();
    await save().click();
    const dialog = page.getByRole('dialog', { name: 'Samples will be withdrawn' });
    await dialog.getByText('the samples of 1 delivery').first().waitFor();
    await expectGoodPage(page, 'shape-withdrawal');
    await dialog.getByRole('button', { name: 'Cancel' }).click();
    expect((await sender.samples()).samples).toHaveLength(1);
    await save().click();
    await dialog.getByRole('button', { name: 'Save and withdraw' }).click();
    await page.getByText('The samples of 1 delivery are withdrawn').waitFor();
    expect((await sender.samples()).samples).toEqual([]);
  });

  test('two versions are compared, and the address says which', async () => {
    await open('/versions?from=1&to=3');
    const row = (name: string) =>
      page.getByRole('region', { name: 'Comparison' }).getByRole('row').filter({ hasText: name });
    await row('plan').getByText('kept only, personal').waitFor();
    await row('mrr').getByText('value of cash').waitFor();
    await page.getByLabel('To', { exact: true }).fill('2');
    await page.keyboard.press('Enter');
    await page.getByText('The fields are the same.').waitFor();
    await page.reload();
    await page.getByText('The fields are the same.').waitFor();
    await expectGoodPage(page, 'shape-compared');
  });
});
