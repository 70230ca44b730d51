import assert from 'node:assert/strict';
import type { Browser, Page } from 'playwright-core';
import type { EmbeddedBroker } from '../../../sidecar/embedded-broker/index.js';
import { openConsole, type Tab } from '../browser.js';
import { PATIENT, startTestBroker, startTestGateway, type TestGateway } from '../gateway-harness.js';

/** A gateway with its own broker, and its console in a tab. */
export interface Flow extends Tab {
  readonly broker: EmbeddedBroker;
  readonly gateway: TestGateway;
}

/**
 * Opens the console of a new gateway.
 * @param hash the page in the console, with `#`
 * @param prepare fills the broker before the first request
 */
export async function openFlow(
  browser: Browser,
  hash: string,
  prepare: (broker: EmbeddedBroker) => void,
  env: Readonly<Record<string, string>> = {},
): Promise<Flow> {
  const broker = await startTestBroker();
  prepare(broker);
  const gateway = await startTestGateway({ BROKER_URL: broker.url, LOG_LEVEL: 'silent', ...PATIENT, ...env });
  return { broker, gateway, ...(await openConsole(browser, gateway.url, hash)) };
}

/** Confirms the purge that the form shows, and waits for the end of the purge on its page. */
export async function confirmPurge(page: Page, counted: string): Promise<void> {
  const [count = ''] = counted.split(' ');
  await page.getByRole('button', { name: `Purge ${counted}…` }).click();
  await page.getByRole('heading', { name: `Delete ${counted}?` }).waitFor();
  await page.getByLabel(/^Type the count/).fill(count);
  await page.keyboard.press('Enter');
  await page.waitForURL(/#\/purge\/[^?]+$/);
  await page.getByText('succeeded', { exact: true }).waitFor();
}

/** Presses Tab until an element with this name has the focus, also inside the root of an editor. */
export async function tabTo(page: Page, name: RegExp): Promise<void> {
  for (let steps = 0; steps < 60; steps += 1) {
    if (name.test(String(await page.evaluate(FOCUSED)))) return;
    await page.keyboard.press('Tab');
  }
  assert.fail(`${String(name)} cannot be reached by Tab.`);
}

/** An expression for the name of the focused element. */
const FOCUSED = `(() => {
  let focused = document.activeElement;
  while (focused?.shadowRoot?.activeElement) focused = focused.shadowRoot.activeElement;
  return focused?.getAttribute('aria-label') ?? (focused?.labels?.[0] ?? focused)?.innerText;
})()`;

/** Returns the decoded query of the request that the form shows. */
export async function shownQuery(page: Page): Promise<string> {
  const request = await page.locator('pre.request').first().innerText();
  return decodeURIComponent(request.split('?')[1] ?? '');
}

/**
 * Leaves the page of a flow, so that it sends no more requests. Asserts that its policy blocked
 * nothing and no script failed.
 */
export async function endFlow(tab: Tab): Promise<void> {
  assert.deepEqual(await tab.leave(), []);
}

export const number = (value: number) => ({ type: 'Property', value });
