import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { chromiumOrSkip } from '../support/chromium.ts';
import { writeManyDeliveries } from '../support/many-deliveries.ts';
import { writeManySamples } from '../support/many-samples.ts';
import { describeWith } from '../support/need.ts';
import { type OpenedApp, openApp, settled } from './support.ts';

/**
 * With 100,000 deliveries and 500,000 samples the app shows what people ask for within 100 ms of
 * the click, drawn. Beside other tests on the same cores that says little, so there it is only
 * held to what nobody could miss; by itself, on a quiet machine, to the 100 ms:
 *
 *     WEIR_TEST_TIMED=1 npx vitest run test/browser/many.browser.test.ts
 */
const deliveries = 100_000;
const series = { lines: 200, days: 2_500 };
const timed = process.env.WEIR_TEST_TIMED === '1';
const quickMs = timed ? 100 : 2_000;
const tries = 10;

describeWith('many deliveries and samples', await chromiumOrSkip(), (chromium) => {
  let app: OpenedApp;
  let page: Page;
  let source: string;
  beforeAll(async () => {
    app = await openApp(chromium);
    ({ page } = await app.signIn());
    const sourceId = await declaredSource(app);
    const { dataDir } = app.weir.running.place;
    const now = Date.now();
    const many = { sourceId, many: deliveries, now, waiting: false };
    writeManyDeliveries(join(dataDir, 'catalog.db'), many);
    const lastDay = Math.floor(now / 86_400_000);
    await writeManySamples(dataDir, { sourceId, metric: 'visits', ...series, lastDay });
    source = `${app.url}/sources/${sourceId}`;
  }, 120_000);
  afterAll(() => app?.close());

  test('older deliveries are there within 100 ms', async () => {
    await page.goto(`${source}/deliveries`);
    await settled(page);
    const took = await times(tries, () => click(page, 'Older', deliveryCell));
    console.log(`older deliveries: ${told(took)}`);
    expect(medianOf(took)).toBeLessThan(quickMs);
    expect(await page.locator(deliveryCell).count()).toBeGreaterThan(20);
  });

  test('rejected deliveries, or all of them, are there within 100 ms', async () => {
    await page.goto(`${source}/deliveries`);
    await settled(page);
    const took: number[] = [];
    for (let i = 0; i < tries / 2; i++) {
      took.push(await click(page, 'rejected', deliveryCell));
      took.push(await click(page, 'all', deliveryCell));
    }
    console.log(`deliveries by state: ${told(took)}`);
    expect(medianOf(took)).toBeLessThan(quickMs);
  });

  test('older samples are there within 100 ms', async () => {
    await page.goto(`${source}/samples`);
    await settled(page);
    const took = await times(tries, () => click(page, 'Older', sampleCell));
    console.log(`older samples: ${told(took)}`);
    expect(medianOf(took)).toBeLessThan(quickMs);
  });

  test('another window is drawn within 100 ms', async () => {
    await page.goto(`${source}/samples`);
    await settled(page);
    const took: number[] = [];
    for (let i = 0; i < tries / 2; i++) {
      took.push(await click(page, 'Last 30 days', 'canvas', 'aria-label'));
      took.push(await click(page, 'Last 12 months', 'canvas', 'aria-label'));
    }
    console.log(`another window: ${told(took)}`);
    expect(medianOf(took)).toBeLessThan(quickMs);
  });
});

const deliveryCell = 'section[aria-label="Deliveries"] tbody tr td:first-child';
const sampleCell = 'section[aria-label="Table of values"] tbody tr';

async function times(many: number, work: () => Promise<number>): Promise<number[]> {
  const took: number[] = [];
  for (let i = 0; i < many; i++) took.push(await work());
  return took;
}

function medianOf(took: readonly number[]): number {
  return took.toSorted((a, b) => a - b)[Math.floor(took.length / 2)]!;
}

function told(took: readonly number[]): string {
  return `${took.map((ms) => ms.toFixed(0)).join(', ')} ms`;
}

/**
 * Clicks a link within the page, and measures there until what is shown has changed and is drawn.
 *
 * @param shown selector of what must change: its text, or an attribute of it
 */
function click(page: Page, link: string, shown: string, attribute?: string): Promise<number> {
  const program = `new Promise((resolve, reject) => {
    const text = () => [...document.querySelectorAll(${JSON.stringify(shown)})].slice(0, 3)
      .map((one) => ${attribute ? `one.getAttribute('${attribute}')` : 'one.textContent'}).join();
    const names = (one) => one.textContent.trim().toLowerCase();
    const wanted = ${JSON.stringify(link.toLowerCase())};
    const links = [...document.querySelectorAll('main a')];
    const link = links.find((one) => names(one).startsWith(wanted));
    if (!link) throw new Error('there is no link ' + wanted);
    const before = text();
    const began = performance.now();
    const late = setTimeout(() => reject(new Error('nothing changed')), 10000);
    const look = () => {
      const now = text();
      if (now === before || now === '') return;
      watch.disconnect();
      clearTimeout(late);
      requestAnimationFrame(() => setTimeout(() => resolve(performance.now() - began)));
    };
    const watch = new MutationObserver(look);
    watch.observe(document.body,
      { subtree: true, childList: true, characterData: true, attributes: true });
    link.click();
  })`;
  return page.evaluate(program) as Promise<number>;
}

async function declaredSource(app: OpenedApp): Promise<string> {
  const { directory } = app.weir.catalog;
  const companyId = await app.companyId();
  const metric = { key: 'visits', name: 'Visits', unit: 'people', labels: ['device'] };
  await directory.declareMetric(companyId, metric, Date.now());
  const sourceId = crypto.randomUUID();
  const fields = [
    { name: 'day', role: 'period' },
    { name: 'device', role: 'label' },
    { name: 'visits', role: 'value', metric: 'visits' },
  ] as const;
  await directory.createSource(
    {
      ...{ sourceId, companyId, name: 'Much', delivery: 'document', format: 'csv', fields },
      savedBy: 'test',
    },
    Date.now(),
  );
  return sourceId;
}
