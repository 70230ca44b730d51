import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { sendJson } from '../gateway-harness.js';
import { ROOM, roomEntity } from '../scans.js';
import { endFlow, openFlow } from './flow.js';

/** Quality: a scan is started and watched, its findings and their entities are seen, and one is opened in the workbench. */
export function qualityFlows(browser: () => Browser): void {
  it('a scan is started, its findings are shown with bars, and an entity of one opens in the workbench', async () => {
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
    await page.getByText('urn:ngsi-ld:Room:').first().waitFor();
    await page.getByRole('link', { name: 'Quality' }).click();
    await page.locator('td.query a').first().waitFor();
    await endFlow(flow);
  });
}
