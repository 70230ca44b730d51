import assert from 'node:assert/strict';
import { it } from 'node:test';
import type { Browser } from 'playwright-core';
import { text } from '../../../console/strings.js';
import { AUDIENCE, CONSOLE_CLIENT, OpenIdProvider } from '../openid-provider.js';
import { endFlow, openFlow } from './flow.js';

/**
 * Sign-in with a real provider: the user is shown, and forbidden actions are disabled with the
 * reason.
 */
export function signInFlows(browser: () => Browser): void {
  it('a viewer signs in, sees the history, and is told why they cannot purge', async () => {
    const provider = await OpenIdProvider.start({ vera: { preferred_username: 'Vera', roles: ['viewer'] } });
    const flow = await openFlow(browser(), '#/history', () => {}, {
      AUTH_ISSUER: provider.issuer,
      AUTH_AUDIENCE: AUDIENCE,
      AUTH_CLIENT_ID: CONSOLE_CLIENT,
    });
    const { page, gateway } = flow;
    provider.allowConsole(gateway.url);
    // The list of purges needs a signed-in user.
    await page.getByRole('dialog').getByRole('button', { name: text.signIn.in }).click();
    await page.locator('input[name=login]').fill('vera');
    await page.locator('input[name=password]').fill('any');
    await page.locator('button[type=submit]').click();
    await page.waitForURL(/interaction/);
    await page.getByRole('button', { name: 'Continue' }).click();
    await page.waitForURL(`${gateway.url}/console/#/history`);
    await page.locator('header').getByText('Vera').waitFor();
    await page.locator('header').getByText('viewer').waitFor();
    assert.equal(new URL(page.url()).search, '');
    await page.getByRole('link', { name: text.pages.purge }).click();
    await page.getByText(text.signIn.lacks('purger', 'viewer')).waitFor();
    assert.equal(await page.getByLabel('Type', { exact: true }).isDisabled(), true);
    await page.goto(`${gateway.url}/console/#/workbench?query=secret`);
    const editor = page.getByRole('textbox', { name: text.workbench.text });
    await editor.fill('{"secret": 1}');
    await page.getByRole('button', { name: text.signIn.out }).click();
    await page.locator('header').getByRole('button', { name: text.signIn.in }).waitFor();
    assert.equal(await page.evaluate(() => sessionStorage.length), 0);
    assert.equal(new URL(page.url()).hash, '#/workbench');
    // The next user of this tab sees nothing that was typed before.
    await editor.waitFor();
    assert.doesNotMatch(await editor.innerText(), /secret/);
    await endFlow(flow);
  });
}
