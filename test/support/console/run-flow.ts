import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { endFlow, openFlow } from './flow.js';

/** The page of a purge, partly with events that the test sends. */
export function runFlows(browser: () => Browser): void {
  it('a purge with long names fits a phone, a lost stream is reported, and an answer older than the end changes nothing', async () => {
    const flow = await openFlow(browser(), '#/elsewhere', () => {});
    const { page, gateway } = flow;
    const id = (await gateway.purge('type=Car')).headers.get('purge-id') ?? '';
    const known = (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as object;
    const long = 'x'.repeat(300);
    const running = {
      ...known,
      endedAt: undefined,
      state: 'running',
      expected: 2 ** 53 - 1,
      matched: 2 ** 53 - 1,
      deleted: 5000,
      ratePerSecond: 40,
      caller: long,
      tenant: long,
      query: `type=${long}`,
      startedAt: new Date(Date.now() - 100_000).toISOString(),
    };
    const ended = { ...running, state: 'succeeded', endedAt: new Date().toISOString() };
    let now: object = running;
    // Each stream ends after its record, and is requested again.
    const serve = async () =>
      page.route('**/events', async (route) =>
        route.fulfill({ contentType: 'text/event-stream', body: `id: 1\ndata: ${JSON.stringify(now)}\n\n` }),
      );
    await serve();
    let answer: () => void = () => {};
    const isAnswered = new Promise<void>((resolve) => (answer = resolve));
    await page.route('**/cancel', async (route) => {
      await isAnswered;
      await route.fulfill({
        status: 202,
        contentType: 'application/json',
        body: JSON.stringify({ ...running, state: 'cancelling' }),
      });
    });
    await page.goto(`${gateway.url}/console/#/purge/${id}`);
    await page.getByText('Currently 40/s.').waitFor();
    await page.setViewportSize({ width: 360, height: 740 });
    assert.ok(Number(await page.evaluate('document.documentElement.scrollWidth - innerWidth')) <= 0);
    for (const link of await page.locator('header nav a').all()) {
      const { x, width } = (await link.boundingBox()) ?? assert.fail('a section without a place');
      assert.ok(x >= 0 && x + width <= 360, 'a section is reached only by scrolling');
    }
    await page.context().setOffline(true);
    await page.route('**/events', (route) => route.abort());
    await page.getByText('Connection to the gateway lost.').waitFor();
    await page.context().setOffline(false);
    await page.unroute('**/events');
    await serve();
    await page.getByText('Connection to the gateway lost.').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Cancel the purge' }).click();
    now = ended;
    await page.getByText('succeeded', { exact: true }).waitFor();
    await page.getByText(/^On average /).waitFor();
    const answered = page.waitForResponse('**/cancel');
    answer();
    await (await answered).finished();
    await page.evaluate('new Promise(requestAnimationFrame)');
    assert.equal(await page.getByText('cancelling', { exact: true }).count(), 0);
    await page.getByText('succeeded', { exact: true }).waitFor();
    await endFlow(flow);
  });

  it('the focus stays on the button that cancels a purge, and moves to its progress when the purge ends', async () => {
    const flow = await openFlow(browser(), '#/elsewhere', () => {});
    const { page, gateway } = flow;
    const id = (await gateway.purge('type=Car')).headers.get('purge-id') ?? '';
    const known = (await gateway.send('GET', `/api/v2/purges/${id}`)).json() as object;
    const running = { ...known, endedAt: undefined, state: 'running', expected: 10, matched: 10 };
    let now: object = running;
    let cancels = 0;
    await page.route('**/events', async (route) =>
      route.fulfill({ contentType: 'text/event-stream', body: `id: 1\ndata: ${JSON.stringify(now)}\n\n` }),
    );
    await page.route('**/cancel', async (route) => {
      cancels += 1;
      now = { ...running, state: 'cancelling' };
      await route.fulfill({ status: 202, contentType: 'application/json', body: JSON.stringify(now) });
    });
    const isFocused = (selector: string) =>
      page.evaluate(`document.activeElement === document.querySelector('${selector}')`);
    await page.goto(`${gateway.url}/console/#/purge/${id}`);
    const button = page.getByRole('button', { name: 'Cancel the purge' });
    await button.focus();
    await page.keyboard.press('Enter');
    await page.getByText('cancelling', { exact: true }).waitFor();
    assert.equal(await isFocused('button.danger'), true);
    assert.equal(await button.getAttribute('aria-disabled'), 'true');
    await page.keyboard.press('Enter');
    now = { ...running, state: 'cancelled', endedAt: new Date().toISOString() };
    await page.getByText('cancelled', { exact: true }).waitFor();
    assert.equal(await button.count(), 0);
    assert.equal(await isFocused('#progress'), true);
    assert.equal(cancels, 1);
    await endFlow(flow);
  });

  it('a hidden tab keeps no stream of events open, and follows the purge again when it becomes visible', async () => {
    const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car' });
    const flow = await openFlow(browser(), '#/elsewhere', ({ entities }) => entities.seed(100, car));
    const { page, gateway } = flow;
    const started = await gateway.purge('type=Car&maxPerSecond=1', { prefer: 'respond-async' });
    const { id } = started.json() as { readonly id: string };
    const show = async (hidden: boolean) =>
      page.evaluate(
        `Object.defineProperty(document, 'hidden', { value: ${hidden}, configurable: true });` +
          "document.dispatchEvent(new Event('visibilitychange'));",
      );
    const isEvents = (one: { url(): string }) => one.url().endsWith(`/${id}/events`);
    await page.goto(`${gateway.url}/console/#/purge/${id}`);
    await page.getByText('of 100 entities').waitFor();
    const ended = page.waitForEvent('requestfailed', isEvents);
    await show(true);
    await ended;
    assert.equal(await page.getByText('Connection to the gateway lost.').count(), 0);
    await gateway.send('POST', `/api/v2/purges/${id}/cancel`);
    const asked = page.waitForRequest(isEvents);
    await show(false);
    await asked;
    await page.getByText('cancelled', { exact: true }).waitFor();
    await endFlow(flow);
  });
}
