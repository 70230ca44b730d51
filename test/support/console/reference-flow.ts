import assert from 'node:assert/strict';
import type { Browser } from 'playwright-core';
import { checkAccess } from './access.js';
import { endFlow } from './flow.js';
import { carSchema, get, openModels, put } from './models.js';
import { itAtLength } from '../thoroughness.js';

const URI = 'https://schemas.test/common.json';
const UNUSED = 'urn:schemas:unused';
const pathOf = (uri: string) => `/references?uri=${encodeURIComponent(uri)}`;
const common = (speed: object) => ({ definitions: { speed } });

/**
 * Reference documents: finding and showing them, updating the models made with them, and deleting
 * them.
 */
export function referenceFlows(browser: () => Browser): void {
  itAtLength(
    'models made with an earlier reference document are updated after a preview of the changes',
    async () => {
      const schema = carSchema({ speed: { $ref: `${URI}#/definitions/speed` } });
      const flow = await openModels(browser(), '/~references', [
        [pathOf(URI), common({ type: 'number' })],
        [pathOf(UNUSED), common({})],
        ['/domains', { name: 'City' }],
        ['/domains/City/models/Car', { schema }],
        ['/domains/City/models/Keen', { schema, compatibility: 'backward' }],
        [pathOf(URI), common({ type: 'string' })],
      ]);
      const { page, gateway } = flow;
      const version = async () => (await get(gateway, '/domains/City/models/Car'))['version'];
      await page.getByRole('link', { name: URI }).click();
      await page.getByRole('heading', { name: URI }).waitFor();
      await page.getByLabel('Document', { exact: true }).getByText('"type": "string"').waitFor();
      const look = page.getByRole('button', { name: /^(?:Find outdated models|Check again)$/ });
      await look.click();
      await page.getByText('2 models outdated').waitFor();
      await page.getByText('The change is breaking, but the model accepts only', { exact: false }).waitFor();
      await page.getByText('What changes').first().click();
      await page.getByText('/properties/speed', { exact: false }).first().waitFor();
      await checkAccess(page);
      assert.equal(await version(), 1);

      // The reviewed state has changed, so nothing is done.
      await put(gateway, pathOf(URI), common({ type: 'string', maxLength: 5 }));
      await page.getByRole('button', { name: 'Update 1 model' }).click();
      await page.getByText('This was changed elsewhere in the meantime.', { exact: false }).waitFor();
      assert.equal(await version(), 1);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('"maxLength": 5').waitFor();
      await look.click();
      await page.getByRole('button', { name: 'Update 1 model' }).click();
      await page.getByRole('heading', { name: '1 model updated' }).waitFor();
      assert.equal(await page.evaluate('document.activeElement.innerText'), '1 model updated');
      assert.equal(await version(), 2);
      await page.getByRole('link', { name: 'City/Car' }).click();
      await page.getByRole('link', { name: URI, exact: true }).click();

      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete the document' }).click();
      await page
        .getByRole('alert')
        .getByText('is in use by model "Car" in domain "City"', { exact: false })
        .waitFor();
      await page.keyboard.press('Escape');
      await page.getByRole('link', { name: 'All reference documents' }).click();
      await page.getByRole('link', { name: UNUSED }).click();
      await look.click();
      await page.getByText('No model is outdated.').waitFor();
      await page.getByRole('button', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete the document' }).click();
      await page.getByRole('heading', { name: 'Reference documents' }).waitFor();
      await page.getByRole('row', { name: new RegExp(`^${URI}`) }).waitFor();
      assert.equal(await page.getByRole('link', { name: UNUSED }).count(), 0);
      await endFlow(flow);
    },
  );

  itAtLength(
    'reference documents that cannot be read are shown as such, and can be requested again',
    async () => {
      const flow = await openModels(browser(), '/~references/urn%3Anone');
      const { page } = flow;
      await page.getByRole('alert').getByText('There is no reference document "urn:none".').waitFor();
      for (const [status, title] of [
        [401, 'Sign-in required'],
        [403, 'Not allowed'],
        [503, 'Temporarily unavailable'],
      ] as const) {
        await page.route('**/api/v2/references?*', (route) =>
          route.fulfill({
            status,
            json: { title: 'T', detail: 'D' },
            contentType: 'application/problem+json',
          }),
        );
        await page.getByRole('link', { name: 'Models', exact: true }).click();
        await page.getByRole('link', { name: 'Reference documents' }).click();
        await page.getByRole('alert').getByText(title).waitFor();
        await page.unrouteAll({ behavior: 'ignoreErrors' });
      }
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByText('There are no reference documents yet.', { exact: false }).waitFor();
      await endFlow(flow);
    },
  );
}
