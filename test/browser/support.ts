import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Request,
} from 'playwright-core';
import { expect } from 'vitest';
import type { DeliveryWay, Field } from '../../src/domain/nouns.ts';
import { TestSource, TestWeir } from '../support/test-weir.ts';

/**
 * The app as people have it: a weir of its own, and Chromium with a passkey in it.
 *
 *     const opened = await openApp(chromiumPath);
 *     const { page } = await opened.signIn();                      // may manage sources
 *     const reader = await opened.signIn({ permissions: 'sources.read' });
 *     await opened.close();                                        // fails on what went wrong
 */

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'));
const screens = fileURLToPath(new URL('screens/', import.meta.url));

export const desk = { width: 1280, height: 800 };
export const phone = { width: 375, height: 740 };
export const themes = ['light', 'dark'] as const;

const flags = [
  // Tests may run as root, in a container that has little shared memory.
  ...['--no-sandbox', '--disable-dev-shm-usage', '--disable-gpu', '--disable-quic'],
  ...['--no-first-run', '--disable-background-networking', '--disable-component-update'],
  '--disable-sync',
  // Whatever a page asks of elsewhere is nowhere; that it asked is told by `watch`.
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost, EXCLUDE 127.0.0.1',
];

export function launch(executablePath: string): Promise<Browser> {
  return chromium.launch({ executablePath, args: flags });
}

const guideFields: readonly Field[] = [
  { name: 'month', role: 'period', grain: 'month' },
  { name: 'mrr', role: 'value', metric: 'mrr' },
  { name: 'plan', role: 'label' },
];

export interface Person {
  readonly email: string;
  readonly context: BrowserContext;
  readonly page: Page;
}

/** Starts a weir with a company, and the browser. */
export async function openApp(
  executablePath: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<OpenedApp> {
  const weir = await TestWeir.start(settings);
  const browser = await launch(executablePath);
  return new OpenedApp(weir, browser);
}

export class OpenedApp {
  readonly weir: TestWeir;
  readonly browser: Browser;
  /** What no page may do: errors, refused styles or scripts, requests to elsewhere. */
  readonly problems: string[] = [];
  #company: Promise<string> | null = null;
  #people = 0;

  constructor(weir: TestWeir, browser: Browser) {
    this.weir = weir;
    this.browser = browser;
  }

  /** As browsers reach it. */
  get url(): string {
    return `http://localhost:${this.weir.running.place.app}`;
  }

  /** The company that people are invited to. */
  companyId(): Promise<string> {
    this.#company ??= this.weir.running
      .cli<{ company_id: string }>(
        ...['company', 'create', '--name', 'Acme', '--timezone', 'Europe/Berlin'],
      )
      .then((made) => made.company_id);
    return this.#company;
  }

  /**
   * A source of the people's company, whose metric `mrr` has the label `plan`: what the guides
   * have their readers make.
   */
  async source(delivery: DeliveryWay = 'push', name = 'Billing'): Promise<TestSource> {
    const companyId = await this.companyId();
    const { directory } = this.weir.catalog;
    const metric = { key: 'mrr', name: 'Recurring revenue', unit: 'EUR', labels: ['plan'] };
    const declared = (await directory.metrics(companyId)).some(({ key }) => key === metric.key);
    if (!declared) await directory.declareMetric(companyId, metric, Date.now());
    const sourceId = randomUUID();
    const { text, secret } = this.weir.newSecret();
    const made = { sourceId, companyId, name, delivery, format: 'csv' } as const;
    const fields = guideFields;
    await directory.createSource({ ...made, fields, savedBy: 'test', secret }, Date.now());
    const source = new TestSource(this.weir, sourceId);
    source.secret = text;
    source.sender = await source.withKey();
    return source;
  }

  /** A page of somebody who is not signed in, watched. */
  async visit(): Promise<Omit<Person, 'email'>> {
    const context = await this.browser.newContext({ viewport: desk, locale: 'en-GB' });
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: this.url });
    context.on('page', (page) => this.#watch(page));
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    await addAuthenticator(page);
    return { context, page };
  }

  /** Invites somebody by the command line, who makes a passkey and is on the overview then. */
  async signIn({ permissions = 'sources.manage' } = {}): Promise<Person> {
    const company = await this.companyId();
    this.#people += 1;
    const email = `person-${this.#people}@acme.example`;
    const { url } = await this.weir.running.cli<{ url: string }>(
      ...['user', 'invite', '--company', company, '--email', email],
      ...['--permissions', permissions],
    );
    const visitor = await this.visit();
    const { page } = visitor;
    await page.goto(url);
    await page.getByRole('button', { name: /make a passkey/i }).click();
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    return { email, ...visitor };
  }

  #watch(page: Page): void {
    const own = new Set([this.url, this.weir.url]);
    const tell = (what: string) => this.problems.push(`${page.url()}: ${what}`);
    page.on('pageerror', (error) => tell(error.stack ?? error.message));
    page.on('console', (message) => {
      // The answers themselves are judged below.
      const known = message.text().startsWith('Failed to load resource');
      if (message.type() === 'error' && !known) tell(message.text());
    });
    const asked = new Set<Request>();
    underWay.set(page, asked);
    page.on('requestfinished', (request) => asked.delete(request));
    page.on('requestfailed', (request) => asked.delete(request));
    page.on('request', (request) => {
      asked.add(request);
      const { protocol, origin } = new URL(request.url());
      const inside = ['data:', 'blob:'].includes(protocol);
      if (!inside && !own.has(origin)) tell(`asked ${request.url()}`);
    });
    page.on('response', (response) => {
      const { origin, pathname } = new URL(response.url());
      const isPage = response.request().resourceType() === 'document';
      const isPart = origin === this.url && !isPage && !pathname.startsWith('/app/api/');
      if (isPart && response.status() >= 400) tell(`${response.status()} ${response.url()}`);
    });
  }

  /** @throws when a page did what none may do */
  async close(): Promise<void> {
    await this.browser.close();
    await this.weir.stop();
    expect(this.problems).toEqual([]);
  }
}

/** A passkey device in the page: it has a screen lock, and is always there to touch. */
export async function addAuthenticator(page: Page): Promise<void> {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true },
      ...{ hasUserVerification: true, isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
}

/** What each watched page has asked and not got yet. */
const underWay = new WeakMap<Page, Set<Request>>();
/** So long must nothing be under way: what was read may lead to more that is read. */
const quietMs = 80;

/** Waits until nothing of a page is on its way, so that it looks as it will. */
export async function settled(page: Page): Promise<void> {
  await page.locator('main h1').first().waitFor();
  for (let quietSince = Date.now(); Date.now() < quietSince + quietMs; await sleep(10)) {
    if (underWay.get(page)!.size > 0) quietSince = Date.now();
  }
}

/**
 * Holds a page, as it stands, to what every page is held to: no serious or critical violation in
 * either theme, nothing beside the screen of a phone. Its pictures are for a person to look at.
 */
export async function expectGoodPage(page: Page, name: string): Promise<void> {
  for (const theme of themes) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.screenshot({ path: `${screens}${name}-${theme}.png` });
    expect(await violations(page), `${name}, ${theme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: 'light' });
  expect(await besideAPhone(page), `${name} at ${phone.width} px`).toEqual([]);
}

/** What of a page is wider than a phone. */
export async function besideAPhone(page: Page): Promise<string[]> {
  await page.setViewportSize(phone);
  const beside = await page.evaluate(besideTheScreen);
  await page.setViewportSize(desk);
  return beside as string[];
}

/** Runs in the page: what makes it wider than the screen, if anything does. */
const besideTheScreen = `
  (() => {
    const width = window.innerWidth;
    if (document.documentElement.scrollWidth <= width) return [];
    return [...document.querySelectorAll('body *')]
      .filter((one) => one.getBoundingClientRect().right > width && !one.closest('.scroll, pre'))
      .map((one) => one.tagName + '.' + one.className + ': ' + one.textContent.slice(0, 40))
      .concat('in all ' + document.documentElement.scrollWidth + ' px');
  })()`;

const axeRun = "axe.run({ resultTypes: ['violations'] }).then(({ violations }) => violations)";

interface Violation {
  readonly id: string;
  readonly impact: string | null;
  readonly nodes: readonly { readonly target: unknown }[];
}

/** What axe-core finds that is serious or critical. */
export async function violations(page: Page): Promise<string[]> {
  // By the debugger: the page's policy lets no script in by any other way.
  await page.evaluate(axeSource.toString());
  const found = (await page.evaluate(axeRun)) as Violation[];
  return found
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map((node) => `${id}: ${node.target}`));
}
