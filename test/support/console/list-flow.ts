import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { endFlow, number, openFlow } from './flow.js';
import { itAtLength } from '../thoroughness.js';

const car = (index: number) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car', speed: number(index) });

/** The history and the overview: what they list and filter, and the state of a broker. */
export function listFlows(browser: () => Browser): void {
  itAtLength(
    'a long query takes four lines in the history, and its record shows all of it, decoded',
    async () => {
      const flow = await openFlow(browser(), '#/elsewhere', () => {});
      const { page, gateway } = flow;
      const ids = Array.from({ length: 40 }, (_, index) => `urn:ngsi-ld:Car:Größe-${index}`).join(',');
      await gateway.purge(`type=Car&id=${encodeURIComponent(ids)}`);
      await page.getByRole('link', { name: 'History' }).click();
      const link = page.locator('td.query a');
      await link.waitFor();
      assert.ok(((await link.boundingBox())?.height ?? 999) < 100);
      await link.click();
      await page.getByText(`type=Car&id=${ids}`, { exact: true }).waitFor();
      await endFlow(flow);
    },
  );

  it('a part of the console that cannot be loaded says so, and is there after a reload', async () => {
    const flow = await openFlow(browser(), '#/history', () => {});
    const { page } = flow;
    await page.getByText('There are no purges yet.').waitFor();
    await page.route('**/assets/**', async (route) => route.abort());
    await page.getByRole('link', { name: 'Workbench' }).click();
    await page.getByRole('heading', { name: 'This page could not be loaded' }).waitFor();
    await page.unroute('**/assets/**');
    await page.getByRole('button', { name: 'Reload' }).click();
    await page.getByRole('heading', { name: 'Workbench' }).waitFor();
    await endFlow(flow);
  });

  it('the history is paged and filtered through its address, and shows dry runs only on request', async () => {
    const flow = await openFlow(browser(), '#/elsewhere', ({ entities }) => entities.seed(1, car, 'madrid'));
    const { page, gateway } = flow;
    for (let index = 0; index < 26; index += 1) await gateway.purge(`id=urn:ngsi-ld:Car:${index}&type=Car`);
    await gateway.purge('type=Car', { 'ngsild-tenant': 'madrid' });
    await gateway.purge('typo=1');
    for (let index = 0; index < 3; index += 1) await gateway.purge(`q=speed>${index}&dryRun=true`);
    const rows = page.locator('tbody tr');
    await page.getByRole('link', { name: 'History' }).click();
    await page.getByText('1–25 of 28').waitFor();
    assert.equal(await rows.count(), 25);
    assert.equal(await page.getByText('dry run', { exact: true }).count(), 0);
    await page.getByRole('link', { name: 'Next' }).click();
    await page.getByText('26–28 of 28').waitFor();
    assert.equal(await rows.count(), 3);
    await page.reload();
    await page.getByText('26–28 of 28').waitFor();
    await page.getByLabel('Show dry runs').check();
    await page.getByText('1–25 of 31').waitFor();
    assert.equal(await page.getByText('dry run', { exact: true }).count(), 3);
    await page.getByLabel('State').selectOption('refused');
    await page.getByText('1–1 of 1').waitFor();
    await page.getByLabel('State').selectOption('');
    await page.getByLabel('Tenant').fill('madrid');
    await page.getByText('1–1 of 1').waitFor();
    await page.getByText('type=Car @ madrid').waitFor();
    await page.getByLabel('Caller').fill('nobody');
    await page.getByText('No purge matches these filters.').waitFor();
    await page.getByRole('button', { name: 'Clear the filters' }).click();
    assert.equal(await page.evaluate('document.activeElement.labels[0].innerText'), 'State');
    await page.getByText('1–25 of 31').waitFor();
    await page.goto(`${gateway.url}/console/#/history?page=9`);
    await page.getByRole('link', { name: 'Go to the first page' }).click();
    await page.getByText('1–25 of 28').waitFor();
    await endFlow(flow);
  });

  it('the overview shows what purges have learnt about the broker, and whether it is down, in the chosen theme', async () => {
    const env = { ENVIRONMENT_NAME: 'production' };
    const flow = await openFlow(browser(), '#/overview', ({ entities }) => entities.seed(2, car), env);
    const { page, broker, gateway } = flow;
    await page.getByRole('banner').getByText('production').waitFor();
    await page.getByRole('link', { name: 'Preview a first purge' }).waitFor();
    await page.getByText('Nothing yet: the next purge').waitFor();
    await gateway.purge('type=Car&q=speed>0');
    const dark = async () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const light = await dark();
    await page.getByLabel('Theme').selectOption('dark');
    assert.notEqual(await dark(), light);
    await page.reload();
    assert.equal(await page.getByLabel('Theme').inputValue(), 'dark');
    assert.notEqual(await dark(), light);
    await page
      .getByText('One query was proven: with any one filter made impossible, nothing was listed.')
      .waitFor();
    const tile = page.locator('.tiles li', { hasText: 'Broker' });
    assert.equal(await tile.locator('strong').innerText(), 'up');
    await broker.close();
    await page.reload();
    await tile.getByText('down').waitFor();
    await page.getByText('The broker does not respond.').waitFor();
    for (const other of ['Gateway', 'Database'])
      assert.equal(await page.locator('.tiles li', { hasText: other }).locator('strong').innerText(), 'up');
    await page.getByText('type=Car&q=speed', { exact: false }).waitFor({ state: 'detached' });
    await endFlow(flow);
  });
}
