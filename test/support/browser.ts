import { setTimeout } from 'node:timers/promises';
import chromium from '@sparticuz/chromium';
import { chromium as playwright, type Browser, type Page } from 'playwright-core';
import { stopLater } from './gateway-harness.js';
import { Waiting } from './waiting.js';

/**
 * How much later than usual a page draws, runs effects, and receives its answers, in milliseconds.
 * This finds flows that only pass with a fast page: SLOW_PAGE_MS=200 npm test --
 * test/integration/console-browser.test.ts
 */
const SLOW_PAGE_MS = Number(process.env['SLOW_PAGE_MS'] ?? 0);

/** The longest wait for anything in a page, on a machine busy with other tests. */
const PATIENCE_MS = 180_000;

/**
 * No sandbox, because root cannot have one. The arguments that the package suggests are for other
 * environments: they put the whole browser into one process, in which key presses get lost and
 * pages crash, and switch off the same-origin policy.
 */
const ARGUMENTS = ['--no-sandbox', '--disable-gpu', '--disable-background-networking'];

/**
 * Starts a headless browser: the one in CHROMIUM_PATH, or the one that npm installed. Closed by
 * `stopAll`.
 */
export async function startBrowser(): Promise<Browser> {
  chromium.setGraphicsMode = false;
  const browser = await playwright.launch({
    executablePath: process.env['CHROMIUM_PATH'] ?? (await chromium.executablePath()),
    args: ARGUMENTS,
    headless: true,
    timeout: PATIENCE_MS,
  });
  stopLater(() => browser.close());
  return browser;
}

export interface PageOptions {
  readonly theme?: 'light' | 'dark';
  readonly width?: number;
  readonly height?: number;
  readonly slowMs?: number;
}

/** A tab with its own session, and the faults in it. */
export interface Tab {
  readonly page: Page;
  /** Violations of the Content-Security-Policy, and script errors. */
  readonly faults: readonly string[];
  /** Waits until `look` finds something among the faults. */
  until<Found>(look: () => Found | undefined): Promise<Found>;
  /**
   * Leaves the tab to another test, without any state of this one.
   * @returns its faults
   */
  leave(): Promise<readonly string[]>;
}

/**
 * Tabs that tests have left, by the options they were opened with. Opening a new tab takes twice as
 * long as reusing one.
 */
const leftTabs = new WeakMap<Browser, Map<string, Tab[]>>();

/**
 * Opens the console of a gateway.
 * @param hash the page in the console, with `#`
 */
export async function openConsole(
  browser: Browser,
  gatewayUrl: string,
  hash = '',
  { theme = 'light', width = 1280, height = 900, slowMs = SLOW_PAGE_MS }: PageOptions = {},
): Promise<Tab> {
  const options = { theme, width, height, slowMs };
  const left = leftTabs.get(browser) ?? new Map<string, Tab[]>();
  leftTabs.set(browser, left);
  const key = JSON.stringify(options);
  const same = left.get(key) ?? [];
  left.set(key, same);
  const tab = same.pop() ?? (await openTab(browser, options, (one) => same.push(one)));
  await tab.page.goto(`${gatewayUrl}/console/${hash}`);
  return tab;
}

async function openTab(
  browser: Browser,
  { theme, width, height, slowMs }: Required<PageOptions>,
  onLeft: (tab: Tab) => void,
): Promise<Tab> {
  const context = await browser.newContext({
    colorScheme: theme,
    viewport: { width, height },
    locale: 'en-GB',
    timezoneId: 'Europe/Berlin',
    reducedMotion: 'reduce',
  });
  context.setDefaultTimeout(PATIENCE_MS);
  const page = await context.newPage();
  if (slowMs > 0) await slowDown(page, slowMs);
  let faults: string[] = [];
  const waiting = new Waiting();
  const note = (fault: string) => {
    faults.push(fault);
    waiting.notify();
  };
  page.on('pageerror', (error) => note(error.message));
  await page.exposeFunction('reportFault', note);
  await page.addInitScript(
    "addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI, sourceFile }) => " +
      "reportFault(violatedDirective + ' ' + blockedURI + ' ' + sourceFile));",
  );
  const tab: Tab = {
    page,
    get faults() {
      return faults;
    },
    until: async (look) => waiting.until(look),
    leave: async () => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.evaluate('try { sessionStorage.clear(); localStorage.clear(); } catch {}');
      await page.goto('about:blank');
      page.removeAllListeners('request');
      await page.setViewportSize({ width, height });
      const found = faults;
      faults = [];
      // The routes that slow a page down are gone, so a slow page cannot be reused.
      if (slowMs === 0) onLeft(tab);
      return found;
    },
  };
  return tab;
}

/** Preact runs effects after a frame, or after 35 ms if there is no frame. */
async function slowDown(page: Page, slowMs: number): Promise<void> {
  await page.addInitScript(
    `{
      const [later, frame] = [setTimeout, requestAnimationFrame];
      window.setTimeout = (run, ms, ...rest) => later(run, ms === 35 ? ${slowMs} : ms, ...rest);
      window.requestAnimationFrame = (run) => later(() => frame(run), ${slowMs});
    }`,
  );
  await page.route('**/{api,ngsi-ld}/**', async (route) => {
    await setTimeout(Math.random() * slowMs);
    await route.fallback().catch(() => {});
  });
}
