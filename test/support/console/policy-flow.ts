import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { endFlow, openFlow } from './flow.js';
import { itAtLength } from '../thoroughness.js';

/** Retention policies: many of them, and changes to one that deletes. */
export function policyFlows(browser: () => Browser): void {
  itAtLength(
    'the preview of settings announces a count, and lists the ids below the buttons that save',
    async () => {
      const until = { type: 'Property', value: '2020-01-01T00:00:00Z' };
      const flow = await openFlow(browser(), '#/retention/+', ({ entities }) =>
        entities.seed(2, (index) => ({ id: `urn:ngsi-ld:Car:${index}`, type: 'Car', until })),
      );
      const { page } = flow;
      for (const [label, value] of [
        ['Name', 'old-cars'],
        ['Query', 'type=Car'],
        ['By', 'until'],
      ] as const)
        await page.getByLabel(label, { exact: true }).fill(value);
      await page.getByRole('button', { name: 'Preview' }).click();
      await page.getByText('2 entities would be deleted now').waitFor();
      assert.doesNotMatch(await page.locator('form [aria-live]').innerText(), /^urn:/m);
      const buttons = await page.locator('form').getByRole('button').allInnerTexts();
      assert.deepEqual(buttons.slice(0, 3), ['Preview', 'Save (report only)', 'urn:ngsi-ld:Car:0']);
      await endFlow(flow);
    },
  );

  itAtLength(
    'all policies are listed in pages, and changing a policy that deletes has to be confirmed',
    async () => {
      const flow = await openFlow(browser(), '#/elsewhere', () => {});
      const { page, gateway } = flow;
      const settings = { target: 'entities', query: 'type=Car', olderThan: 'P1D', by: 'modifiedAt' };
      const put = async (name: string, mode: string) =>
        gateway.sendJson('PUT', `/api/v2/retention-policies/${name}`, {
          ...settings,
          schedule: '0 3 * * *',
          mode,
        });
      const modeOf = async (name: string) =>
        (await gateway.send('GET', `/api/v2/retention-policies/${name}`)).json() as {
          mode: string;
          olderThan: string;
        };
      for (let index = 10; index < 61; index += 1) await put(`cars-${index}`, 'report');
      await put('old-cars', 'enforce');
      await page.getByRole('link', { name: 'Retention' }).click();
      await page.getByText('1–25 of 52').waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByText('26–50 of 52').waitFor();
      await page.getByRole('link', { name: 'Next' }).click();
      await page.getByText('51–52 of 52').waitFor();
      await page.getByRole('link', { name: 'old-cars' }).click();
      await page.getByText('deletes', { exact: true }).waitFor();
      await page.getByRole('link', { name: 'Edit' }).click();
      await page.getByText('old-cars is enforced. Saving other settings puts it in report mode').waitFor();
      await page.getByLabel('Older than (olderThan)').fill('P2D');
      await page.getByRole('button', { name: 'Save (report only)' }).click();
      await page.getByRole('heading', { name: 'Stop old-cars from deleting?' }).waitFor();
      await page.keyboard.press('Escape');
      assert.deepEqual(
        [(await modeOf('old-cars')).mode, (await modeOf('old-cars')).olderThan],
        ['enforce', 'P1D'],
      );
      await page.getByRole('button', { name: 'Save (report only)' }).click();
      await page.getByRole('button', { name: 'Save in report mode' }).click();
      await page.getByText('reports only', { exact: true }).waitFor();
      assert.deepEqual(
        [(await modeOf('old-cars')).mode, (await modeOf('old-cars')).olderThan],
        ['report', 'P2D'],
      );
      await put('old-cars', 'enforce');
      await page.reload();
      await page.getByRole('link', { name: 'Edit' }).click();
      await page.getByLabel('Older than (olderThan)').fill('P3D');
      await page.getByRole('button', { name: 'Save, then enforce…' }).click();
      await page.getByRole('heading', { name: 'Enforce old-cars?' }).waitFor();
      await page.getByText('A run now would delete 0 entities.').waitFor();
      // The changed policy does not delete before its name is typed.
      assert.deepEqual(
        [(await modeOf('old-cars')).mode, (await modeOf('old-cars')).olderThan],
        ['report', 'P3D'],
      );
      await page.getByLabel(/^Type the name/).fill('old-cars');
      await page.keyboard.press('Enter');
      await page.getByText('deletes', { exact: true }).waitFor();
      assert.equal((await modeOf('old-cars')).mode, 'enforce');
      await page.waitForURL(/#\/retention\/old-cars$/);
      // The question in the address has been answered and does not return.
      await page.getByRole('button', { name: 'Report only' }).click();
      await page.getByText('reports only', { exact: true }).waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
      await put('old-cars', 'enforce');
      await page.reload();
      await page.getByText('deletes', { exact: true }).waitFor();
      // Only the policy that was shown may be deleted, but another client has changed it.
      await page.getByRole('button', { name: 'Delete…' }).click();
      await put('old-cars', 'report');
      await page.getByRole('button', { name: 'Delete the policy' }).click();
      await page
        .getByText(
          'This was changed elsewhere in the meantime. Nothing was done. Showing the current version.',
        )
        .waitFor();
      await page.getByText('reports only', { exact: true }).waitFor();
      assert.equal(await page.getByRole('dialog').count(), 0);
      assert.equal((await modeOf('old-cars')).mode, 'report');
      await endFlow(flow);
    },
  );
}
