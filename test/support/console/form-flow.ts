import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { endFlow, confirmPurge, number, openFlow, shownQuery } from './flow.js';
import { itAtLength } from '../thoroughness.js';

const car = (index: number) => ({
  id: `urn:ngsi-ld:Car:${index}`,
  type: 'Car',
  speed: number(index),
  brand: number(1),
  location: { type: 'GeoProperty', value: { type: 'Point', coordinates: [index * 40, 0] } },
});

/** The form of a purge: its selection, how it is filled in, and what it refuses itself. */
export function formFlows(browser: () => Browser): void {
  it('the button that purges comes before the sample, of which only the count is announced; an empty form makes no command', async () => {
    const flow = await openFlow(browser(), '#/purge', ({ entities }) => entities.seed(3, car));
    const { page } = flow;
    await page.getByText('Fill in a filter').waitFor();
    assert.equal(await page.locator('.copyable').count(), 0);
    await page.getByLabel('Type', { exact: true }).fill('Car');
    await page.getByText('3 entities match now').first().waitFor();
    assert.equal(await page.locator('.copyable').count(), 2);
    const buttons = await page.locator('.preview').getByRole('button').allInnerTexts();
    assert.deepEqual(buttons.slice(0, 2), ['Purge 3 entities…', 'urn:ngsi-ld:Car:0']);
    assert.doesNotMatch(await page.locator('.preview [aria-live]').innerText(), /urn:/);
    await endFlow(flow);
  });

  it('a geoquery is given by its parameters, and selects the entities in the place', async () => {
    // The cars are at the longitudes 0, 40 and 80.
    const flow = await openFlow(browser(), '#/purge?query=type%3DCar', ({ entities }) =>
      entities.seed(3, car),
    );
    const { page } = flow;
    await page.getByText('3 entities match now').first().waitFor();
    await page.locator('summary', { hasText: 'Where' }).focus();
    await page.keyboard.press('Enter');
    for (const [label, value] of [
      ['Relation (georel)', 'near;maxDistance==1000'],
      ['Geometry', 'Point'],
      ['Coordinates', '[40,0]'],
    ] as const)
      await page.getByLabel(label).fill(value);
    await page.getByText('1 entity match').first().waitFor();
    assert.match(await shownQuery(page), /georel=near;maxDistance==1000&geometry=Point&coordinates=\[40,0\]/);
    await page.getByLabel('Relation (georel)').fill('');
    assert.ok(await page.getByLabel('Coordinates').isVisible());
    await page.getByLabel('Relation (georel)').fill('near;maxDistance==1000');
    await confirmPurge(page, '1 entity');
    assert.equal(flow.broker.entities.count(), 2);
    await endFlow(flow);
  });

  it('a purge that drops or keeps attributes counts attributes, and the entities stay', async () => {
    const flow = await openFlow(browser(), '#/purge?query=type%3DCar', ({ entities }) =>
      entities.seed(3, car),
    );
    const { page, gateway } = flow;
    const first = async () =>
      Object.keys(
        (await gateway.send('GET', '/ngsi-ld/v1/entities/urn:ngsi-ld:Car:1')).json() as object,
      ).sort();
    await page.getByLabel('What to delete').selectOption('drop');
    await page.getByLabel('Attribute names').fill('speed');
    await confirmPurge(page, '3 attributes');
    assert.deepEqual(await first(), ['brand', 'id', 'location', 'type']);
    await page.getByRole('link', { name: 'Purge', exact: true }).click();
    await page.getByLabel('Type', { exact: true }).fill('Car');
    await page.getByLabel('What to delete').selectOption('keep');
    await page.getByLabel('Attribute names').fill('brand');
    await confirmPurge(page, '3 attributes');
    assert.deepEqual(await first(), ['brand', 'id', 'type']);
    await endFlow(flow);
  });

  it('the history before a time is purged, and the recorded ids are listed, downloaded and removed', async () => {
    const instance = (day: number) => ({ ...number(day), observedAt: `2026-01-0${day}T00:00:00Z` });
    const flow = await openFlow(browser(), '', ({ temporal }) =>
      temporal.seed(2, (index) => ({
        id: `urn:ngsi-ld:Car:${index}`,
        type: 'Car',
        speed: [1, 2, 3].map(instance),
      })),
    );
    const { page, gateway } = flow;
    await page.getByText('History (temporal)').click();
    await page.getByLabel('Type', { exact: true }).fill('Car');
    await page.getByLabel('Relation (timerel)').selectOption('before');
    await page.getByLabel('Time (timeAt)').fill('2026-01-03T00:00:00Z');
    await page.locator('summary', { hasText: 'Limits and record' }).click();
    await page.getByLabel(/^Keep a list/).check();
    await confirmPurge(page, '4 instances');
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Download the list' }).click(),
    ]);
    const lines = readFileSync(await file.path(), 'utf8')
      .trim()
      .split('\n');
    assert.equal(lines.length, 4);
    for (const line of lines) assert.match(line, /urn:ngsi-ld:Car:[01]/);
    await page.getByRole('button', { name: 'Remove the list…' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Remove the list' }).click();
    await page.getByText('The list was removed.').waitFor();
    const id = new URL(page.url()).hash.split('/').pop() ?? '';
    assert.equal((await gateway.send('GET', `/api/v2/purges/${id}/ids`)).status, 404);
    assert.equal((await gateway.send('GET', `/api/v2/purges/${id}`)).status, 200);
    await endFlow(flow);
  });

  itAtLength(
    'a purge whose matches cannot all be counted is confirmed as such, without a bound that would refuse it',
    async () => {
      const flow = await openFlow(browser(), '#/elsewhere', () => {});
      const { page, gateway } = flow;
      await page.route('**/ngsi-ld/v1/**', async (route) =>
        route.fulfill({ json: { matched: 2500, sample: ['urn:a:1'], unit: 'instances', atLeast: true } }),
      );
      await page.goto(`${gateway.url}/console/#/purge?target=temporal&query=timerel%3Dbefore`);
      await page.getByRole('button', { name: 'Purge 2,500 instances…' }).click();
      await page.getByRole('heading', { name: 'Delete at least 2,500 instances?' }).waitFor();
      const dialog = page.getByRole('dialog');
      assert.ok(!(await dialog.getByRole('checkbox').isChecked()));
      assert.doesNotMatch(await dialog.locator('pre.request').innerText(), /maxAffected/);
      await dialog.getByRole('checkbox').check();
      assert.match(await dialog.locator('pre.request').innerText(), /maxAffected=2500/);
      assert.ok(await dialog.getByRole('button', { name: 'Delete all matches' }).isDisabled());
      await endFlow(flow);
    },
  );
}
