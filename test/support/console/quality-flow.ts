import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import type { Schemas } from '../../../sidecar/client/operations.js';
import { text } from '../../../console/strings.js';
import { sendJson } from '../gateway-harness.js';
import { ROOM, roomEntity, scanned, startScan } from '../scans.js';
import { endFlow, openFlow } from './flow.js';

/**
 * The quality pages: starting and watching a scan, its findings and their entities, opening one in
 * the workbench, and write policies.
 */
export function qualityFlows(browser: () => Browser): void {
  it('a scan is started, its findings are shown with bars, and an entity of a finding opens in the workbench', async () => {
    const flow = await openFlow(browser(), '#/quality', ({ entities }) => entities.seed(1000, roomEntity));
    const { page, gateway } = flow;
    await sendJson(gateway.url, 'POST', '/api/v2/domains', { name: 'D' });
    await sendJson(gateway.url, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
    await page.getByLabel('Query').fill('type=Room');
    await page.getByRole('button', { name: 'Start the scan' }).click();
    await page.getByText('1,000 checked: 972 valid, 28 invalid; 0 not judged').waitFor();
    assert.equal(await page.locator('tbody tr').count(), 5);
    assert.equal(await page.locator('tbody meter').count(), 5);
    await page.locator('tbody a').first().click();
    await page.getByText('1–11 of 11').waitFor();
    await page.getByRole('button', { name: 'Open in the workbench' }).first().click();
    await page.getByRole('heading', { name: 'Workbench' }).waitFor();
    await page.getByText('urn:ngsi-ld:Room:').first().waitFor();
    await page.getByRole('link', { name: 'Quality', exact: true }).click();
    await page.locator('td.query a').first().waitFor();
    await endFlow(flow);
  });

  it('a write policy is refused with its faulty field, created, shown with the last scan, changed and deleted', async () => {
    const flow = await openFlow(browser(), '#/quality', () => {});
    const { page, gateway } = flow;
    const policy = async () => (await gateway.send('GET', '/api/v2/write-policies/rooms')).json();
    await sendJson(gateway.url, 'POST', '/api/v2/domains', { name: 'D' });
    await sendJson(gateway.url, 'POST', '/api/v2/domains/D/models', { name: 'Room', schema: ROOM });
    // Until both lists are there, the link moves, and a click may miss it.
    for (const empty of ['There are no scans yet.', 'There are no write policies yet.'])
      await page.getByText(empty).first().waitFor();
    await page.getByRole('link', { name: 'New write policy' }).click();
    await page.getByLabel('Name', { exact: true }).fill('rooms');
    await page.getByLabel('Types', { exact: true }).fill('Room\n');
    await page.getByLabel('Model', { exact: true }).fill('Room');
    await page.getByLabel('Priority', { exact: true }).fill('7');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.locator('.field .wrong').getByText('must be domain/model').waitFor();
    assert.equal(await page.getByLabel('Model', { exact: true }).getAttribute('aria-invalid'), 'true');
    await page.getByLabel('Model', { exact: true }).fill('D/Room');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText(/^No write of an entity has come through this gateway/).waitFor();
    const { mode, types, priority, onFailure, tenant } = (await policy()) as Schemas['WritePolicy'];
    assert.deepEqual(
      { mode, types, priority, onFailure, tenant },
      { mode: 'report', types: ['Room'], priority: 7, onFailure: 'accept', tenant: undefined },
    );
    // The invalid entity is written, and the scan finds it as well.
    await sendJson(gateway.url, 'POST', '/ngsi-ld/v1/entities', roomEntity(100));
    await scanned(gateway.url, await startScan(gateway.url, { query: 'type=Room' }));
    await page.getByRole('link', { name: 'Back to Quality' }).first().click();
    await page.getByLabel('Policy', { exact: true }).selectOption('rooms');
    const findings = (name: string) => page.getByRole('region', { name }).locator('tbody code');
    for (const name of ['Findings of writes', 'Findings of the last scan']) {
      assert.equal(await findings(name).innerText(), '/temperature/value');
      const table = page.getByRole('region', { name }).locator('.table');
      const isCut = await table.evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
      assert.equal(isCut, false, `the table of ${name} fits the page`);
    }
    await page.getByText('1 checked: 1 invalid, 0 refused; 0 not judged').waitFor();
    await page.getByRole('link', { name: 'rooms', exact: true }).click();
    await page.getByLabel('Mode', { exact: true }).selectOption('enforce');
    // The policy was changed elsewhere: nothing is overwritten, and the policy is read again.
    await sendJson(gateway.url, 'PUT', '/api/v2/write-policies/rooms', { mode: 'report', tenant: '' });
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('This was changed elsewhere in the meantime. Nothing was done.').waitFor();
    await page.getByRole('button', { name: text.state.reload }).click();
    await page.locator('option:checked', { hasText: 'the default tenant' }).waitFor({ state: 'attached' });
    await page.getByLabel('Mode', { exact: true }).selectOption('enforce');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('cell', { name: 'default tenant', exact: true }).waitFor();
    await page.getByRole('link', { name: 'rooms', exact: true }).click();
    const after = (await policy()) as Schemas['WritePolicy'];
    assert.deepEqual([after.mode, after.onFailure, after.tenant], ['enforce', 'refuse', '']);
    await page.getByRole('button', { name: 'Delete…' }).click();
    await page.getByRole('button', { name: 'Delete the policy' }).click();
    await page.getByText('There are no write policies yet.').waitFor();
    await endFlow(flow);
  });
}
